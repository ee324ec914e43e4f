/**
 * Budgets of calls (contract, section 9). Those of one action are counted for each agent, `send_message` for each agent and
 * thread; `default` is everything else that an agent does; `public` is what an address calls without a token. The rest guards
 * against guessing: `sign_in` is counted for each username and address, `sign_in_account` for each username, `sign_in_address` for
 * each address, `sign_up` for each address and each account that founds organizations, `add_member` for each account, `token` for
 * each client and address, `register` for each address.
 */
export const budgets = [
  'create_thread',
  'send_message',
  'message_search',
  'contact_request',
  'webhook_test',
  'default',
  'public',
  'sign_in',
  'sign_in_account',
  'sign_in_address',
  'sign_up',
  'add_member',
  'token',
  'register',
] as const;

export type Budget = (typeof budgets)[number];

/** The budget of a single action. */
export type ActionBudget = Extract<
  Budget,
  'create_thread' | 'send_message' | 'message_search' | 'contact_request' | 'webhook_test'
>;

/**
 * An exchange is a message of another agent than the last one of its thread, so soon behind it (ms). Programs that answer each
 * other on their own do so within seconds.
 */
export const exchangeWindowMs = 10_000;

/** How many exchanges two agents may have in one thread, in a period of so many seconds that begins with the first of them. */
export interface LoopLimit {
  points: number;
  seconds: number;
}

/** How many uploads of the last so many seconds an agent may hold that it has not sent: others pay for their room. */
export interface UnsentLimit {
  points: number;
  seconds: number;
}

/** How a budget stands right after a call. */
export interface BudgetState {
  budget: Budget;
  /** Calls in each period, and how long that is in seconds. */
  points: number;
  seconds: number;
  /** Calls left in this period, and whole seconds until the next one begins. */
  remaining: number;
  reset: number;
}

/** Hears how each budget stands that a call took from. */
export type OnBudget = (state: BudgetState) => void;
