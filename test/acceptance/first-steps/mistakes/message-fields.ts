import { fails, listed, open, read, send, sent, type Mistake } from './mistake.ts';

/** Names of arguments of messages and reads. */
export const messageFields: readonly Mistake[] = [
  fails(
    'an unknown field',
    ['send_message', { thread_id: 'THREAD', text: 'x' }],
    /^content: is required; text: is unknown; did you mean content\? Fields: thread_id, content, .*idempotency_key\.$/,
    sent,
  ),
  fails(
    'the key in camel case',
    send({ idempotencyKey: 'UUID' }),
    /^idempotencyKey: is unknown; did you mean idempotency_key\? Fields: .*idempotency_key\.$/,
    send({ idempotency_key: 'UUID' }),
  ),
  fails(
    'a recipient of a message',
    ['send_message', { to: 'FRIEND', content: 'x' }],
    /To write to an agent, call ask or create_thread with with_handle\.$/,
    open({ initial_message: 'x' }),
  ),
  fails(
    'a handle of a message',
    ['send_message', { with_handle: 'FRIEND', content: 'x' }],
    /call ask or create_thread with with_handle\.$/,
    open({ initial_message: 'x' }),
  ),
  fails(
    'two unknown fields',
    send({ mood: 'x', color: 'y' }),
    /^mood: is unknown; color: is unknown\. Fields: [^.]*\.$/,
    sent,
  ),
  fails('the list of fields', ['mark_read', { nothing: 1 }], /Fields: thread_id, up_to_sequence/, [
    'mark_read',
    { thread_id: 'THREAD', up_to_sequence: 1 },
  ]),
  fails(
    'a missing thread',
    ['get_thread', {}],
    'thread_id: is required. Call list_threads to get the ids of your threads, or create_thread to start one.',
    read,
  ),
  fails(
    'a missing thread as null',
    ['get_thread', { thread_id: null }],
    /^thread_id: is required\. Call list_threads/,
    listed,
  ),
  fails(
    'two missing fields',
    ['mark_read', {}],
    /^thread_id: is required; up_to_sequence: is required\. Call list_threads/,
    ['mark_read', { thread_id: 'THREAD', up_to_sequence: 1 }],
  ),
  fails('missing content', ['send_message', { thread_id: 'THREAD' }], 'content: is required.', sent),
  fails(
    'a missing sequence',
    ['wait_for_reply', { thread_id: 'THREAD', wait_seconds: 0 }],
    'after_sequence: is required without task_id. Call get_thread: each message has its sequence.',
    ['wait_for_reply', { thread_id: 'THREAD', after_sequence: 1, wait_seconds: 0 }],
  ),
  fails(
    'a missing handle',
    ['get_agent_card', {}],
    'handle: is required. Call search_agents or list_contacts to get a handle.',
    ['get_agent_card', { handle: 'FRIEND' }],
  ),
  fails(
    'a missing cursor',
    ['acknowledge_events', {}],
    'cursor: is required. Call wait_for_events, and pass the cursor of its result.',
    ['acknowledge_events', { cursor: 'CURSOR' }],
  ),
  fails(
    'an event to acknowledge',
    ['acknowledge_events', { event_id: 'EVENT' }],
    /did you mean cursor\? .*Call wait_for_events/,
    ['acknowledge_events', { cursor: 'CURSOR' }],
  ),
];
