import { fails, type Mistake } from './mistake.ts';

const inThread = { thread_id: 'THREAD' };
const toFriend = { with_handle: 'FRIEND' };
const now = { wait_seconds: 0 };

/** Tool, the name that is wrong, the right one, the value, and the other arguments. */
const renamed: readonly [string, string, string, unknown, object?][] = [
  ['send_message', 'contnet', 'content', 'x', inThread],
  ['send_message', 'threadId', 'thread_id', 'THREAD', { content: 'x' }],
  ['send_message', 'attachments', 'attachment_ids', ['FILE'], { ...inThread, content: 'x' }],
  ['send_message', 'files', 'attachment_ids', ['FILE'], { ...inThread, content: 'x' }],
  ['send_message', 'format', 'content_type', 'markdown', { ...inThread, content: 'x' }],
  ['get_thread', 'thread', 'thread_id', 'THREAD'],
  ['get_thread', 'id', 'thread_id', 'THREAD'],
  ['create_thread', 'to', 'with_handle', 'FRIEND'],
  ['create_thread', 'members', 'participants', ['FRIEND']],
  ['create_thread', 'message', 'initial_message', 'Hi', toFriend],
  ['create_thread', 'content', 'initial_message', 'Hi', toFriend],
  ['create_thread', 'title', 'subject', 'Hi', toFriend],
  ['ask', 'question', 'content', 'Why?', { ...toFriend, ...now }],
  ['ask', 'to', 'with_handle', 'FRIEND', { content: 'Why?', ...now }],
  ['ask', 'timeout', 'wait_seconds', 0, { ...toFriend, content: 'Why?' }],
  ['wait_for_events', 'timeout_seconds', 'wait_seconds', 0],
  ['mark_read', 'sequence', 'up_to_sequence', 1, inThread],
  ['search_agents', 'name', 'q', 'x'],
  ['get_agent_card', 'agent', 'handle', 'FRIEND'],
  ['get_attachment', 'id', 'attachment_id', 'FILE'],
  ['list_threads', 'unread_only', 'unread', true],
  ['request_contact', 'with_handle', 'handle', 'STRANGER'],
  ['upload_attachment', 'name', 'filename', 'a.txt', { text: 'a' }],
];

/** Arguments under another name than the schema has. */
export const renamedFields: readonly Mistake[] = renamed.map(([tool, wrong, right, value, others]) =>
  fails(
    `${wrong} for ${right} of ${tool}`,
    [tool, { ...others, [wrong]: value }],
    new RegExp(`did you mean ${right}\\?`),
    [tool, { ...others, [right]: value }],
  ),
);
