// Text that somebody else wrote can hold marks that reverse what follows them (U+202D, U+202E): a title would read
// backwards. They are drawn as the sign for "cannot be shown". Marks that right-to-left scripts need are left alone.
import { options } from "preact";

const overrides = /[\u202d\u202e]/g;
const shown = ["children", "title", "aria-label", "alt", "placeholder"];

export function upright(text: string): string {
  return text.replace(overrides, "\ufffd");
}

function uprightAll(value: unknown): unknown {
  if (typeof value === "string") return upright(value);
  return Array.isArray(value) ? value.map(uprightAll) : value;
}

// Every element that is drawn comes through here, so that no view can forget it.
export function keepUpright(): void {
  const before = options.vnode;
  options.vnode = (vnode): void => {
    const props = vnode.props as Record<string, unknown>;
    for (const name of typeof vnode.type === "string" ? shown : ["children"]) if (props[name] !== undefined) props[name] = uprightAll(props[name]);
    before?.(vnode);
  };
}
