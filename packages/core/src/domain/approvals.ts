/** Actions that an agent can do through a tool only after a person approves. */
export const approvalActions = ['request_contact', 'remove_contact'] as const;

export type ApprovalAction = (typeof approvalActions)[number];

export const approvalDecisions = ['approved', 'denied'] as const;

export type ApprovalDecision = (typeof approvalDecisions)[number];

/** An approval is pending until a person decides or it expires. */
export const approvalStates = ['pending', ...approvalDecisions, 'expired'] as const;

export type ApprovalState = (typeof approvalStates)[number];

/** Where the decision was made: on the approval page, by an operator, in the MCP client, or through another agent of the same owner. */
export const approvalVias = ['page', 'operator', 'program', 'agent'] as const;

export type ApprovalVia = (typeof approvalVias)[number];
