// preact/compat would bring 5 KB for this one function.
import { Component, h, type ComponentChild, type ComponentType } from "preact";

export function memo<P extends object>(Inner: ComponentType<P>): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const a = this.props as Record<string, unknown>;
      const b = next as Record<string, unknown>;
      return Object.keys(b).some((k) => a[k] !== b[k]) || Object.keys(a).length !== Object.keys(b).length;
    }
    override render(): ComponentChild {
      return h(Inner, this.props as P);
    }
  };
}
