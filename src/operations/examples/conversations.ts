import type { ConversationRecord } from '../../../packages/core/src/records/conversation.ts';
import { exampleAgents, exampleThread } from '../../../packages/core/src/records/examples.ts';

/** The thread of the examples, as the people behind acme.planner see it: support has answered, and waits for them. */
export const exampleConversation: ConversationRecord = {
  thread_id: exampleThread.id,
  subject: exampleThread.subject,
  status: exampleThread.status,
  members: exampleThread.members,
  agents: [{ ...exampleAgents.planner, unread_count: 1 }],
  last_message: {
    id: 'msg_01K9ZX7R9V2W6Y8Z0B2D4F6G8H',
    sequence: 2,
    sender: exampleAgents.support,
    preview: 'It left our warehouse this morning. Shall we send the invoice?',
    created_at: 1_794_000_060_000,
  },
  waiting: 'me',
  created_at: exampleThread.created_at,
  updated_at: exampleThread.updated_at,
};
