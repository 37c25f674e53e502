// The JSON of the API, as docs/page.md and the CLI's --json describe it. Fields that a server may leave
// out are optional here, so that the compiler asks what is shown without them.

export type Tier = "Copper" | "Silver" | "Gold" | "Diamond" | "Olympian";
export const tiers: readonly Tier[] = ["Copper", "Silver", "Gold", "Diamond", "Olympian"];

export interface Achievement {
  id: string;
  name: string;
  description: string;
  category: string;
  kind: string;
  icon: string;
  secret?: boolean;
  threshold_metric?: string;
  tiers?: { name: Tier; threshold: number }[];
  requirements?: { metric: string; gte: number }[];
  unlocked: boolean;
  discovered: boolean;
  state: "unlocked" | "discovered" | "secret";
  tier: Tier | null;
  progress: number;
  next_tier: Tier | null;
  next_threshold: number;
  progress_pct: number;
  unlocked_at?: number | null;
  evidence?: { session_id: string; title: string; value: number } | null;
  criteria?: string;
}

export interface ScanStatus {
  state: "idle" | "running" | "failed";
  last_error?: string | null;
}

export interface Achievements {
  achievements: Achievement[];
  unlocked_count: number;
  discovered_count: number;
  secret_count: number;
  total_count: number;
  error: string | null;
  generated_at: number;
  is_stale: boolean;
  scan_meta: {
    mode: "pending" | "in_progress" | "full" | "incremental" | "failed";
    sessions_total: number;
    sessions_scanned_so_far?: number;
    sessions_expected_total?: number;
    status?: ScanStatus;
  };
}

export interface Part {
  id: string;
  title?: string | null;
  started_at: number;
  ended_at?: number | null;
  end_reason?: string | null;
  messages: number;
  tool_calls: number;
}

export interface Session {
  id: string;
  home?: string;
  source: string;
  model: string | null;
  title: string | null;
  cwd: string | null;
  git_branch?: string | null;
  archived: boolean;
  started_at: number;
  last_active: number;
  messages: number;
  tool_calls: number;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
  parts: Part[];
}

export interface SessionPage {
  sessions: Session[];
  next_cursor: string | null;
}

export interface ToolCall {
  id: string | null;
  name: string;
  arguments: string;
  ok?: boolean | null; // null: no result was seen
  outcome?: string | null; // in words
  result_id?: number | null;
  seconds?: number;
}

export interface Message {
  id: number;
  role: string;
  timestamp: number;
  content: string | null;
  bytes?: number; // of the whole text, where the server cut it
  html?: string | null;
  tool_name: string | null;
  tool_call_id: string | null;
  active: boolean;
  compacted: boolean;
  tool_calls: ToolCall[];
}

export interface MessagePage {
  messages: Message[];
  next_after: string | null;
}

export interface TemplateRow {
  name: string;
  type: string;
  examples: number;
  usage_count: number;
  created_at: number;
  description: string;
  source_session_id: string | null;
}

export interface Example {
  tool_name: string;
  arguments: Record<string, unknown>;
  result: string;
  success: boolean;
}

export interface TemplateShow {
  path: string;
  tokens: number;
  template: {
    name: string;
    task_type: string;
    examples: Example[];
    description: string;
    created_at: number;
    usage_count: number;
    source_session_id: string | null;
  };
}

export interface TemplateMade {
  dry_run: boolean;
  name: string;
  type: string;
  examples: number;
  calls: number;
  failed: number;
  too_large: number;
  tokens: number;
  exists?: boolean;
  template?: { examples?: Example[] };
}

export interface ChatMessage {
  role: string;
  content?: unknown;
  tool_calls?: { id: string; function?: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

export interface Injection {
  template: string;
  type: string;
  changed: boolean;
  reason: string;
  tokens?: number;
  messages: ChatMessage[];
}

export interface Decile {
  decile: number;
  calls: number;
  failed: number;
  share: number | null;
  low: number | null;
  high: number | null;
}

export interface StudyKind {
  kind: string;
  sessions: number;
  calls: number;
  failed: number;
  enough: boolean;
  slope: { per_decile: number; standard_error: number; low: number; high: number; differs_from_zero: boolean } | null;
  verdict: string;
  deciles: Decile[];
}

export interface Study {
  sessions: number;
  kinds: StudyKind[];
  method: string;
}

export interface Home {
  name: string;
  path: string;
  present: boolean;
  readable: boolean;
  sessions: number;
  trouble: string | null;
}
