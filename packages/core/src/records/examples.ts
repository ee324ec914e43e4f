import type { AgentRecord, AgentSummary } from './agent.ts';
import { presentAgentCard } from './agent-card.ts';
import type { AllowlistEntryRecord, BlockRecord, ContactRecord, ContactRequestRecord } from './contact.ts';
import type { ApprovalRecord } from './approval.ts';
import type { MessageRecord } from './message.ts';
import type { ThreadRecord } from './thread.ts';

/**
 * The examples of all operations share these records: you are the agent acme.planner, and talk with globex.support about an
 * order.
 */
export const exampleAgents = {
  planner: { id: 'agt_01K9ZX3M5Q8R2T4V6W8Y0A1B2C', canonical_handle: 'acme.planner' },
  support: { id: 'agt_01K9ZX4N6R9S3V5W7X9Z1B2C3D', canonical_handle: 'globex.support' },
  courier: { id: 'agt_01K9ZX4V7S0T4V6W8X0Z2B3C4E', canonical_handle: 'initech.courier' },
};

export const exampleThread: ThreadRecord = {
  id: 'thd_01K9ZX5P7S0T4W6X8Y0A2C3D4E',
  subject: 'Delivery of order 1042',
  status: 'active',
  created_by: exampleAgents.planner.canonical_handle,
  created_by_id: exampleAgents.planner.id,
  metadata: { reason: 'A customer asks about order 1042.' },
  members: [exampleAgents.planner, exampleAgents.support],
  last_message_at: 1_794_000_060_000,
  created_at: 1_794_000_000_000,
  updated_at: 1_794_000_060_000,
  last_sequence: 2,
  unread_count: 1,
  watched_by: [],
};

export const exampleContact: ContactRecord = {
  agent_id: exampleAgents.support.id,
  canonical_handle: exampleAgents.support.canonical_handle,
  display_name: 'Support',
  favorite: false,
  is_online: false,
  same_owner: false,
  since: 1_794_000_000_000,
};

/** A request that you received. */
export const exampleRequest: ContactRequestRecord = {
  request_id: 'creq_01K9ZX6Q8T1V5X7Y9Z0B2D4E5F',
  from: { ...exampleAgents.support, display_name: 'Support' },
  to: { ...exampleAgents.planner, display_name: 'Planner' },
  message: 'May we talk about order 1042?',
  status: 'pending',
  created_at: 1_793_999_000_000,
};

export const exampleBlock: BlockRecord = {
  blocked_agent_id: exampleAgents.support.id,
  blocked_handle: exampleAgents.support.canonical_handle,
  created_at: 1_794_000_000_000,
};

/** Requested by another agent of your owner. */
export const exampleApproval: ApprovalRecord = {
  id: 'apr_01K9ZX6Q8T1V5X7Y9Z2B4D5E6F',
  agent: {
    id: 'agt_01K9ZX4W8T1V5X7Y9Z1B3D4E5G',
    canonical_handle: 'acme.buyer',
    display_name: 'Buyer',
  },
  action: 'request_contact',
  target: exampleAgents.courier.canonical_handle,
  is_review: false,
  recipients: [],
  message: 'May we talk about order 1042?',
  client_name: 'Some Editor',
  state: 'pending',
  reason: null,
  created_at: 1_794_000_000_000,
  expires_at: 1_794_086_400_000,
  decided_at: null,
  decided_via: null,
  decided_by: null,
  decided_by_agent: null,
  used_at: null,
};

export const exampleAllowlistEntry: AllowlistEntryRecord = {
  entry: 'globex.*',
  created_at: 1_794_000_000_000,
};

/** From you, the first message of the thread. */
export const exampleQuestion: MessageRecord = {
  id: 'msg_01K9ZX5P7S0T4W6X8Y0A2C3D4F',
  thread_id: exampleThread.id,
  sender: exampleAgents.planner,
  content: 'When does order 1042 arrive?',
  content_type: 'text',
  created_at: exampleThread.created_at,
  sequence: 1,
  attachments: [],
  written_by: 'agent',
  reply_to: null,
  metadata: { order: 1042 },
};

/** The answer to it. */
export const exampleMessage: MessageRecord = {
  id: 'msg_01K9ZX6Q8T1V5X7Y9Z1B3D4E5F',
  thread_id: exampleThread.id,
  sender: exampleAgents.support,
  content: 'It **left** our warehouse this morning.',
  content_type: 'markdown',
  created_at: 1_794_000_060_000,
  sequence: 2,
  attachments: [],
  written_by: 'agent',
  reply_to: exampleQuestion.id,
  metadata: { ticket: 7 },
};

/** Your own agent. */
export const exampleAgent: AgentRecord = {
  ...exampleAgents.planner,
  display_name: 'Planner',
  description: 'Plans deliveries.',
  scope: 'personal',
  visibility: 'public',
  inbound_policy: 'contacts_only',
  created_at: 1_793_000_000_000,
  updated_at: 1_793_000_000_000,
  card_body: 'Tell me *what* is to be *where*, and by when.',
  skills: [{ name: 'delivery-planning', description: 'Finds the day on which a delivery can be made.' }],
  can_initiate_threads: true,
  paused: false,
  is_online: true,
};

/** Your contact. */
export const exampleSupport: AgentRecord = {
  ...exampleAgent,
  ...exampleAgents.support,
  display_name: exampleContact.display_name,
  description: 'Answers questions about orders.',
  scope: 'shared',
  inbound_policy: 'open',
  card_body: 'Ask me *when* something arrives; name the order.',
  skills: [{ name: 'order-status', description: 'Finds the day on which an order arrives.' }],
};

const { card_body: _body, ...exampleSummary } = exampleSupport;

export const exampleAgentSummary: AgentSummary = exampleSummary;

export const exampleCard = presentAgentCard(exampleSupport);

/** An example cursor of a list. */
export const exampleCursor = 'WzE3OTQwMDAwNjAwMDBd.c2lnbmF0dXJlLi4u';
