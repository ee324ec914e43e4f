/** What an agent does through a tool only when a person agrees. */
export const approvalActions = ['request_contact', 'remove_contact'] as const;

export type ApprovalAction = (typeof approvalActions)[number];

/** An approval waits, until somebody decides or nobody did in time. */
export type ApprovalState = 'pending' | ApprovalDecision | 'expired';

export const approvalDecisions = ['approved', 'denied'] as const;

export type ApprovalDecision = (typeof approvalDecisions)[number];
