import type { ThreadRecord } from '../presenters/thread.ts';

/** One small world that the examples of all operations share, so that they tell one story. */
export const exampleAgents = {
  planner: { id: 'agt_01K9ZX3M5Q8R2T4V6W8Y0A1B2C', canonical_handle: 'acme.planner' },
  support: { id: 'agt_01K9ZX4N6R9S3V5W7X9Z1B2C3D', canonical_handle: 'globex.support' },
};

export const exampleThread: ThreadRecord = {
  id: 'thd_01K9ZX5P7S0T4W6X8Y0A2C3D4E',
  subject: 'Delivery of order 1042',
  status: 'active',
  created_by: exampleAgents.planner.id,
  members: [exampleAgents.planner, exampleAgents.support],
  last_message_at: 1_794_000_060_000,
  created_at: 1_794_000_000_000,
  updated_at: 1_794_000_060_000,
  last_sequence: 2,
  unread_count: 1,
};
