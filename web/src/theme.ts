// Light, dark, or as the system has it; theme-boot.ts puts a choice back before the first paint.
import { createStore, recall, remember } from "./store";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];
export const themeNames: Record<Theme, string> = { system: "System theme", light: "Light theme", dark: "Dark theme" };
export const theme = createStore<Theme>((recall("theme") as Theme | null) ?? "system");

export function setTheme(to: Theme): void {
  remember("theme", to === "system" ? null : to);
  if (to === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = to;
  theme.set(to);
}

export const nextTheme = (): void => setTheme(themes[(themes.indexOf(theme.get()) + 1) % themes.length]!);
