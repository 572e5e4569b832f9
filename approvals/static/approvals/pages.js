// Small comforts. Every page works the same without this file.
"use strict";

// Times stay true while a page is open: "in 2 h", "3 min ago", rounded down as the server does.
function count(seconds) {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60);
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  if (hours >= 10) return `${hours} h`;
  if (hours) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return minutes ? `${minutes} min` : `${seconds} s`;
}

function relative(distance) {
  const seconds = Math.floor(Math.abs(distance));
  if (seconds < 5) return "just now";
  return distance > 0 ? `in ${count(seconds)}` : `${count(seconds)} ago`;
}

function refreshTimes() {
  for (const time of document.querySelectorAll("time[datetime]")) {
    time.textContent = relative((Date.parse(time.dateTime) - Date.now()) / 1000);
  }
}

setInterval(refreshTimes, 10000);

// A second press of a button while the first is under way does nothing. (The server would not mind.)
document.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "yes";
});

window.addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});

// The raw text, on the clipboard.
for (const pre of document.querySelectorAll("pre[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.textContent = "Copy what is shown";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(pre.textContent);
    button.textContent = "Copied";
  });
  if (navigator.clipboard && pre.textContent) pre.after(button);
}

// What went wrong is where the reader is.
document.querySelector("[role=alert][tabindex]")?.focus();
