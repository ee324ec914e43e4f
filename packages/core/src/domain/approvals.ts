/** The calls of an agent that can need a person's approval, by operation. */
export const approvalActions = [
  'request_contact',
  'remove_contact',
  'create_thread',
  'add_thread_member',
  'update_thread',
  'send_message',
  'send_messages',
  'ask_agent',
  'ask_in_thread',
  'acknowledge_message',
  'create_task',
  'update_task',
  'a2a_send_message',
] as const;

export type ApprovalAction = (typeof approvalActions)[number];

export const approvalDecisions = ['approved', 'denied'] as const;

export type ApprovalDecision = (typeof approvalDecisions)[number];

/** An approval is pending until a person decides or it expires. */
export const approvalStates = ['pending', ...approvalDecisions, 'expired'] as const;

export type ApprovalState = (typeof approvalStates)[number];

/** Where the decision was made: on the approval page, by an operator, in the MCP client, or through another agent of the same owner. */
export const approvalVias = ['page', 'operator', 'program', 'agent'] as const;

export type ApprovalVia = (typeof approvalVias)[number];

/** What a person is asked to approve. */
interface Wish {
  action: ApprovalAction;
  target: string;
  /** Whether the call waits because of the outgoing policy of the agent. */
  is_review: boolean;
  recipients: readonly string[];
}

const reviewedActs: Partial<Record<ApprovalAction, string>> = {
  request_contact: 'send a contact request',
  add_thread_member: 'show a conversation',
  update_thread: 'show a new subject',
};

/** What an agent wants, to follow its name: "wants to …". */
export function describeWish({ action, target, is_review: isReview, recipients }: Wish): string {
  const others = recipients.length > 1 ? ` and ${recipients.length - 1} more` : '';
  if (isReview) return `${reviewedActs[action] ?? 'write'} to @${target}${others}`;
  return action === 'request_contact'
    ? `send a contact request to @${target}`
    : `remove @${target} from its contacts`;
}

const keptFields = new Set([
  'id',
  'thread_id',
  'message_id',
  'initial_message_id',
  'task_id',
  'contextId',
  'request_id',
  'sequence',
  'created_at',
  'status',
  'message',
  'task',
  'results',
]);

/** The parts of an answer that say where the texts are, without the texts. */
export function keepIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(keepIds);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => keptFields.has(name));
  return Object.fromEntries(
    kept.flatMap(([name, field]) =>
      name === 'message' && typeof field !== 'object' ? [] : [[name, keepIds(field)]],
    ),
  );
}
