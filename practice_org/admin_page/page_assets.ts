export const pageStyle = `
:root { color-scheme: light dark; scroll-padding-top: 3.5rem; --line: light-dark(#c4c4c4, #555); --soft: light-dark(#f4f4f4, #222); }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 60rem; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.125rem; margin: 1.5rem 0 0.25rem; }
h3 { font-size: 1rem; margin: 0; }
p { margin: 0.25rem 0; }
ul, ol { list-style: none; margin: 0; padding: 0; }
li { border-top: 1px solid var(--line); padding: 0.5rem 0; }
form li { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; justify-content: space-between; align-items: center; }
form li > div { flex: 1 1 16rem; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.5rem; }
.who { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; margin-top: 1rem; }
textarea { font: inherit; max-width: 100%; }
summary { min-height: 2.75rem; }
button, select { font: inherit; min-height: 2.75rem; padding: 0.25rem 0.75rem; max-width: 100%; }
#message { position: sticky; top: 0; min-height: 2.5rem; padding: 0.5rem; background: var(--soft); }
#message:empty { background: none; pointer-events: none; }
:focus-visible { outline: 3px solid light-dark(#0b57d0, #8ab4f8); outline-offset: 2px; }
#log span { margin-right: 0.5rem; }
@media (min-width: 75rem) {
  body { max-width: 90rem; }
  main { display: grid; grid-template-columns: 2fr 1fr; gap: 0 2rem; align-items: start; }
  main > section { position: sticky; top: 0; max-height: 100vh; overflow: auto; }
}
`;

/** Changes without loading the page again, and brings in what others change. Focus and scrolling stay where they are. */
export const pageScript = `
const form = document.querySelector("form");
const message = document.getElementById("message");

function show(fresh) {
  for (const element of document.querySelectorAll("[data-live]")) {
    const next = fresh.getElementById(element.id);
    if (next !== null && next.innerHTML !== element.innerHTML) element.innerHTML = next.innerHTML;
  }
  for (const button of form.querySelectorAll("button")) {
    const next = fresh.querySelector('button[value="' + button.value + '"]');
    if (next === null || next.disabled === button.disabled) continue;
    const hadFocus = button === document.activeElement;
    button.disabled = next.disabled;
    if (hadFocus && button.disabled) {
      requestAnimationFrame(() => button.parentElement.querySelector("button:not(:disabled)")?.focus());
    }
  }
}

async function refresh() {
  const response = await fetch("/");
  const text = await response.text();
  // Without its head: the nonce of another answer's style is not one of this page's.
  show(new DOMParser().parseFromString(text.slice(text.indexOf("<main>"), text.indexOf("</main>")), "text/html"));
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = event.submitter;
  message.textContent = "";
  try {
    const response = await fetch("/practice/change", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: button.value, actor: form.elements.actor.value, key: form.elements.key.value }),
    });
    const answer = await response.json();
    await refresh();
    message.textContent = response.ok ? "Done: " + button.textContent : answer.error;
  } catch {
    message.textContent = "The org does not answer: is it still running?";
  }
});

setInterval(() => {
  if (!document.hidden) refresh().catch(() => undefined);
}, 3000);
`;
