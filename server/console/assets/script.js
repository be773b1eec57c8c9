"use strict";
// Pages are complete without this script. It replaces the live part of a page by what the
// server sends, and the plan while a form is filled in.

function follow(part, lost, held) {
  let source = null;
  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource(part.dataset.live);
    source.onmessage = (event) => {
      lost.hidden = true;
      held.hidden = !busy(part);
      if (!held.hidden) return;
      const places = scrolls(part).map((box) => [box.scrollLeft, box.scrollTop]);
      part.innerHTML = event.data;
      scrolls(part).forEach((box, i) => { [box.scrollLeft, box.scrollTop] = places[i] || [0, 0]; });
    };
    source.onerror = () => {
      lost.hidden = false;
      if (source.readyState === EventSource.CLOSED) {
        close();
        setTimeout(open, 5000);
      }
    };
  };
  const close = () => {
    if (source) source.close();
    source = null;
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  open();
}

// busy reports whether a replacement would take a click, the focus of the keyboard or a
// selection away. A focus that came by a click may be lost.
function busy(part) {
  const selection = document.getSelection();
  return part.matches(":active") || part.querySelector(":focus-visible") || (selection && !selection.isCollapsed && part.contains(selection.anchorNode));
}

function scrolls(part) {
  return Array.from(part.querySelectorAll(".wide"));
}

function planAsTyped(form) {
  let timer = 0;
  let asked = 0;
  const ask = async () => {
    const number = ++asked;
    const answer = await fetch(form.dataset.plan + "?" + new URLSearchParams(new FormData(form)));
    if (answer.ok && number === asked) document.getElementById("plan").innerHTML = await answer.text();
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => ask().catch(() => {}), 250);
  });
}

// tryAsTyped shows what a key touches while it is typed, and does what buttons say without
// loading the page again.
function tryAsTyped(form) {
  let timer = 0;
  let asked = 0;
  const ask = async (name, value) => {
    const number = ++asked;
    const body = new URLSearchParams(new FormData(form));
    body.set(name, value);
    const answer = await fetch(form.dataset.how, { method: "POST", body });
    if (!answer.ok || number !== asked) return;
    const part = document.getElementById("trial");
    const focused = part.contains(document.activeElement);
    part.innerHTML = await answer.text();
    if (focused) form.elements.key.focus();
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => ask("do", "ask").catch(() => {}), 150);
  });
  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    event.preventDefault();
    clearTimeout(timer);
    if (button && button.name === "look") form.elements.key.value = button.value;
    ask(button ? button.name : "do", button ? button.value : "add").catch(() => form.submit());
  });
}

const live = document.getElementById("live");
if (live && live.dataset.live) follow(live, document.getElementById("lost"), document.getElementById("held"));
const needs = document.querySelector("form[data-plan]");
if (needs) planAsTyped(needs);
const trial = document.querySelector("form[data-how]");
if (trial) tryAsTyped(trial);
