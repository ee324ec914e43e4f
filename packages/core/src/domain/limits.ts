/**
 * Rate limit budgets. Budgets of one action are counted per agent; `a2a_task` counts the tasks that an agent opens through A2A; `send_message`, which also counts replies to leases, per agent and thread; `default` is every other call of an
 * agent; `mcp_initialize`, `websocket` and `event_stream` count the MCP sessions, WebSockets and notification streams that an agent opens, `event_stream` also what its MCP client answers or cancels that does not run in the same process; `public` is every call of an IP address without a token. The rest protects against guessing: `sign_in` is counted per username and
 * address, `sign_in_account` per username, then `sign_in_slow` per username,
 * `sign_in_address` per address, `sign_up` per address and per account that founds organizations,
 * `add_member` and `notification_settings` per account, `notification_message` (tests and confirmations) per account and per e-mail address, `token` per client and address, `register` per address.
 */
export const budgets = [
  'create_thread',
  'a2a_task',
  'send_message',
  'message_search',
  'contact_request',
  'webhook_test',
  'mcp_initialize',
  'websocket',
  'event_stream',
  'default',
  'public',
  'sign_in',
  'sign_in_account',
  'sign_in_slow',
  'sign_in_address',
  'sign_up',
  'add_member',
  'notification_settings',
  'notification_message',
  'token',
  'register',
] as const;

export type Budget = (typeof budgets)[number];

/** The budget of a single action. */
export type ActionBudget = Extract<
  Budget,
  'a2a_task' | 'create_thread' | 'send_message' | 'message_search' | 'contact_request' | 'webhook_test'
>;

/** An MCP session ends when it was not used for this long (ms). */
export const mcpSessionLifetimeMs = 3_600_000;

/** The place of a sign-in without sessions is kept for this long after its last move (ms). */
export const mcpPlaceLifetimeMs = 24 * 3_600_000;

/**
 * An exchange is a message that follows a message of another agent in the same thread within this time (ms). Programs that reply to each
 * other do so within seconds.
 */
export const exchangeWindowMs = 10_000;

/** The maximum number of calls, of quick exchanges or of unsent uploads, in a period. */
export interface Limit {
  points: number;
  seconds: number;
}

/** The state of a budget after a call. */
export interface BudgetState {
  budget: Budget;
  /** Calls in each period, and its length in seconds. */
  points: number;
  seconds: number;
  /** Calls left in this period, and whole seconds until the next one. */
  remaining: number;
  reset: number;
}

/** Receives the state of each budget that a call used. */
export type OnBudget = (state: BudgetState) => void;
