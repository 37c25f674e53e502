// A view that throws must not take the page with it: what failed is told in its place, with two ways out.
import { Component, type ComponentChildren, type JSX } from "preact";
import { icon } from "../icons";
import { Icon } from "./ui";

interface Props {
  at: string; // the address; another one is tried afresh
  what: string;
  inside?: boolean; // a pane of a view, not the whole view
  children: ComponentChildren;
}

export class Boundary extends Component<Props, { error: Error | null }> {
  override state = { error: null as Error | null };

  static override getDerivedStateFromError(error: unknown): { error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
  override componentDidUpdate(before: Readonly<Props>): void {
    if (before.at !== this.props.at && this.state.error) this.setState({ error: null });
  }
  override render(): ComponentChildren | JSX.Element {
    const { error } = this.state;
    if (!error) return this.props.children;
    const body = (
      <div class="state" role="alert">
        <Icon name={icon.failed} size={24} />
        <h2>{this.props.what} could not be shown</h2>
        <p>The page met data it does not understand. Nothing was changed.</p>
        <p class="mono dim">{error.message}</p>
        <p class="row-of">
          <button type="button" class="primary" onClick={() => location.reload()}><Icon name={icon.rescan} size={14} /> Reload</button>
          <button type="button" onClick={() => history.back()}><Icon name={icon.back} size={14} /> Back</button>
        </p>
      </div>
    );
    return this.props.inside ? <section class="detail-pane" aria-label={this.props.what}>{body}</section> : <main class="page" tabIndex={-1}>{body}</main>;
  }
}
