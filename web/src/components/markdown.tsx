// The server's safe Markdown, put in as it is but for three things: links open elsewhere without telling whence,
// pictures become links (no request leaves the page), and code gets a copy button.
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { upright } from "../direction";
import { icon } from "../icons";
import { memo } from "../memo";
import { copyText } from "./ui";

function copyButton(pre: HTMLElement): HTMLElement {
  const box = document.createElement("div");
  box.className = "code";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "ghost small copy";
  button.ariaLabel = button.title = "Copy the code";
  const draw = (name: string): void => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "icon");
    svg.setAttribute("width", "14");
    svg.setAttribute("height", "14");
    const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
    use.setAttribute("href", `#${name}`);
    svg.append(use);
    button.replaceChildren(svg);
  };
  draw(icon.copy);
  button.onclick = async () => {
    if (await copyText(pre.textContent ?? "")) draw(icon.check);
    setTimeout(() => draw(icon.copy), 1500);
  };
  pre.tabIndex = 0;
  pre.replaceWith(box);
  box.append(pre, button);
  return box;
}

function prepare(html: string): DocumentFragment {
  // A template's content is inert: nothing in it loads or runs while it is looked at.
  const template = document.createElement("template");
  template.innerHTML = upright(html);
  const content = template.content;
  for (const img of content.querySelectorAll("img")) {
    const a = document.createElement("a");
    a.href = img.src;
    a.textContent = img.alt || img.src;
    img.replaceWith(a);
  }
  for (const a of content.querySelectorAll("a")) {
    a.target = "_blank";
    a.rel = "noopener noreferrer";
  }
  for (const pre of content.querySelectorAll("pre")) copyButton(pre);
  for (const box of content.querySelectorAll<HTMLInputElement>("input")) box.ariaLabel = "task";
  return content;
}

export const Markdown = memo(function Markdown({ html }: { html: string }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.replaceChildren(prepare(html)), [html]);
  return <div class="md" ref={place} />;
});
