import type { Caller } from '../protocol/exchange.ts';

/** The state of a task (MCP Tasks extension). Times in milliseconds since the Unix epoch. */
export interface Task {
  status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  /** Explanation for people and models. */
  message?: string;
  created_at: number;
  updated_at: number;
  /** When the task may be forgotten. */
  expires_at: number;
  /** For `input_required`: questions to the client, by key. */
  questions?: Record<string, { method: string; params: Record<string, unknown> }>;
  /** For `completed`: the result of the call. */
  result?: object;
  /** For `failed`: a JSON-RPC error. */
  error?: { code: number; message: string };
}

/** The call that reads or changes a task. */
export interface TaskCall {
  caller: Caller;
  /** Aborts when the client no longer waits. */
  signal: AbortSignal;
}

/** Stored objects that clients can follow as tasks. Any process can read them. */
export interface TaskSource {
  /** Reading counts against no rate limit: the request or the stream does. Returns undefined if there is no such task, or if it belongs to another agent: these look alike. */
  read(call: TaskCall, id: string): Promise<Task | undefined>;
  /** Passes on the responses of the client. Unknown and repeated ones are ignored. */
  update(call: TaskCall, id: string, responses: Record<string, unknown>): Promise<void>;
  /** Ends the task, if it has not ended. */
  cancel(call: TaskCall, id: string): Promise<void>;
}

/** How often a client should ask, in ms. */
const pollIntervalMs = 5_000;

/** The fields of every task, as clients see them. */
export function taskFields(
  id: string,
  { status, message, created_at, updated_at, expires_at }: Task,
): object {
  return {
    taskId: id,
    status,
    ...(message !== undefined && { statusMessage: message }),
    createdAt: new Date(created_at).toISOString(),
    lastUpdatedAt: new Date(updated_at).toISOString(),
    ttlMs: Math.max(1, expires_at - created_at),
    pollIntervalMs,
  };
}

/** A task with its questions, result or error. */
export function detailedTask(id: string, task: Task): object {
  const { questions, result, error } = task;
  return {
    ...taskFields(id, task),
    ...(questions && { inputRequests: questions }),
    ...(result && { result }),
    ...(error && { error }),
  };
}
