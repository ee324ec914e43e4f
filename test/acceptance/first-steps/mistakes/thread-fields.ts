import { fails, open, waited, waitNow, type Mistake } from './mistake.ts';

/** Names of arguments of threads and questions. */
export const threadFields: readonly Mistake[] = [
  fails('both forms of members', open({ participants: ['FRIEND'] }), /either with_handle or participants/, [
    'create_thread',
    { participants: ['FRIEND'] },
  ]),
  fails(
    'no members',
    ['create_thread', { subject: 'x' }],
    /either with_handle or participants/,
    open({ subject: 'x' }),
  ),
  fails(
    'an unknown field of the first message',
    open({ initial_message: { text: 'Hi' } }),
    /initial_message\.text: is unknown; did you mean content\? Fields: content, content_type, attachment_ids\.$/,
    open({ initial_message: { content: 'Hi' } }),
  ),
  fails(
    'a list for the first message',
    open({ initial_message: ['a', 'b'] }),
    /^initial_message: must be a string, or must be an object with the fields content/,
    open({ initial_message: 'a' }),
  ),
  fails(
    'both places of a question',
    ['ask', { with_handle: 'FRIEND', thread_id: 'THREAD', content: 'Why?', wait_seconds: 0 }],
    /either thread_id or with_handle/,
    ['ask', { with_handle: 'FRIEND', content: 'Why?', wait_seconds: 0 }],
  ),
  fails(
    'a subject in a thread that exists',
    ['ask', { thread_id: 'THREAD', subject: 'x', content: 'Why?', wait_seconds: 0 }],
    /^subject: is only for a new thread/,
    ['ask', { thread_id: 'THREAD', content: 'Why?', wait_seconds: 0 }],
  ),
  fails(
    'a negative wait',
    ['wait_for_events', { wait_seconds: -1 }],
    'wait_seconds: must be at least 0.',
    waited,
  ),
  fails(
    'an unknown event type',
    waitNow({ types: ['message'] }),
    /must be one of: .*message\.created/,
    waitNow({ types: ['message.created'] }),
  ),
];
