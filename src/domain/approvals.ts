/** What an agent does through a tool only when a person agrees. */
export type ApprovalAction = 'request_contact' | 'remove_contact';

/** An approval waits, until somebody decides or nobody did in time. */
export type ApprovalState = 'pending' | ApprovalDecision | 'expired';

export const approvalDecisions = ['approved', 'denied'] as const;

export type ApprovalDecision = (typeof approvalDecisions)[number];
