/** What an agent does through a tool only when a person agrees. */
export const approvalActions = ['request_contact', 'remove_contact'] as const;

export type ApprovalAction = (typeof approvalActions)[number];

export const approvalDecisions = ['approved', 'denied'] as const;

export type ApprovalDecision = (typeof approvalDecisions)[number];

/** An approval waits, until somebody decides or nobody did in time. */
export const approvalStates = ['pending', ...approvalDecisions, 'expired'] as const;

export type ApprovalState = (typeof approvalStates)[number];

/** Where it was decided: on its page, by an operator, in the program that asked, or through another agent of the same people. */
export const approvalVias = ['page', 'operator', 'program', 'agent'] as const;

export type ApprovalVia = (typeof approvalVias)[number];
