// Conversations, runs and the five events of a run, as the API gives them.

export interface Conversation {
  id: string;
  title: string | null;
  first_words: string | null;
  default_runtime: string | null;
  template: string | null;
  parent_id: string | null;
  running: string | null; // the run that is not over
  messages: number;
  created_ms: number;
  updated_ms: number;
  version: number;
  agent_state?: { v: number; active: string | null; runtimes: Record<string, unknown> };
}

export interface ConversationPage {
  conversations: Conversation[];
  next_cursor: string | null;
}

export interface ChatMessage {
  id: string;
  seq: number;
  role: "user" | "assistant";
  content: string;
  passages: number[] | null; // where they begin in the content, in bytes; null: it is one
  status: "running" | "complete" | "partial" | "failed" | "cancelled";
  runtime: string | null;
  run_id: string | null;
  model: string | null;
  usage: Usage | null;
  created_ms: number;
  finished_ms: number;
}

export interface Attachment {
  id: string;
  kind: "file" | "runtime_trace" | "context_receipt" | "task_graph" | "error_detail";
  name: string | null;
  mime: string | null;
  runtime: string | null;
  run_id: string | null;
  message_id: string | null;
  size: number;
}

export interface Runtime {
  name: string;
  alias: string | null;
  title: string;
  available: boolean;
  version: string | null;
  model: string | null;
  models?: string[]; // by name, where several are configured
  detail: string | null;
}

export interface Runtimes {
  default: string | null;
  runtimes: Runtime[];
}

export interface Usage {
  input: number;
  output: number;
  reasoning?: number;
  cached?: number;
  total: number;
  estimated?: boolean;
}

export interface Metadata {
  ts: number;
  run_id: string;
  user_message_id: string;
  assistant_message_id: string;
  runtime: string;
  continuity: { mode: string; detail?: string };
  context: { tokens: number; user: number; summary: number; recalled: number; brain: number; truncated?: boolean };
  skills: { name: string; score: number; confidence: string }[];
  graph: { nodes: number; edges: number; decision: string; score: number; waves: number };
}

export interface Approval {
  id: string;
  choices: string[];
  command?: string;
}

export interface Progress {
  ts: number;
  stage: string;
  status: "started" | "running" | "waiting" | "completed" | "failed" | "degraded";
  label?: string;
  detail?: string;
  tool?: string;
  call_id?: string;
  args_preview?: string;
  result_preview?: string;
  duration_ms?: number;
  attempt?: number;
  approval?: Approval;
  text?: string;
  model?: string;
  runtime_version?: string;
  usage?: Usage;
}

export interface Chunk {
  text: string;
  offset: number;
  segment: number;
}

export interface RunError {
  code: string;
  message: string;
  retryable: boolean;
  stage: string;
  runtime: string;
  http_status?: number;
  runtime_code?: string;
  partial: boolean;
}

export interface Done {
  status: "completed" | "failed" | "cancelled" | "truncated";
  finish_reason: string;
  chars: number;
  usage: Usage;
  elapsed_ms: number;
  ttft_ms?: number;
}

export interface Receipts {
  tokens: number;
  parts: Record<string, { items: number; tokens: number; truncated?: boolean; degraded?: string; omitted?: { platform: number; disabled: number; score: number } }>;
  receipts: { kind: string; id: string; score: number; reason: string; chars: number }[];
}

export interface TaskGraph {
  nodes: { id: number; text: string; kind: string; cost: number; wave: number }[];
  edges: { from: number; to: number; why: string }[];
  waves: number[][];
  W: number;
  CP: number;
  S: number;
  decision: string;
  score: number;
  reasons: string[];
  truncated: boolean;
}
