import { card, fails, list, listed, send, type Mistake } from './mistake.ts';

/** Names and values of arguments of other tools. */
export const otherFields: readonly Mistake[] = [
  fails('a limit of words', list({ limit: 'many' }), 'limit: must be an integer.', list({ limit: 10 })),
  fails(
    'a limit that is too high',
    list({ limit: 1_000 }),
    'limit: must be at most 100.',
    list({ limit: 100 }),
  ),
  fails('a limit of zero', list({ limit: 0 }), 'limit: must be at least 1.', list({ limit: 1 })),
  fails('a fraction', list({ limit: 1.5 }), 'limit: must be an integer.', list({ limit: 1 })),
  fails(
    'all as a status',
    list({ status: 'all' }),
    'status: must be one of: active, closed, archived; leave it out for all except archived.',
    listed,
  ),
  fails(
    'an unknown status',
    list({ status: 'open' }),
    /^status: must be one of: active/,
    list({ status: 'active' }),
  ),
  fails('a page', list({ page: 2 }), /did you mean cursor\?/, listed),
  fails(
    'a key where none is taken',
    list({ idempotency_key: 'x' }),
    /^idempotency_key: is unknown\. Fields: status, with_handle, /,
    listed,
  ),
  fails(
    'archived as a field',
    ['update_thread', { thread_id: 'ACTIVE', archived: true }],
    /did you mean status\?/,
    ['update_thread', { thread_id: 'ACTIVE', status: 'archived' }],
  ),
  fails(
    'nothing to change in a thread',
    ['update_thread', { thread_id: 'ACTIVE' }],
    'status: send status, subject or both.',
    ['update_thread', { thread_id: 'ACTIVE', subject: 'x' }],
  ),
  fails(
    'the card by another name',
    card({ card: 'Hi' }),
    'card: is unknown; did you mean card_body? Fields: display_name, description, card_body, skills, idempotency_key.',
    card({ card_body: 'Hi' }),
  ),
  fails(
    'nothing to change in the card',
    card({}),
    /^must have at least one field to change: display_name, description, card_body, skills\.$/,
    card({ description: 'Hi' }),
  ),
  fails(
    'a field of the owner',
    card({ visibility: 'private', description: 'Hi' }),
    'Only your owner can change visibility. Leave it out; your user can change it in the console.',
    card({ description: 'Hi' }),
  ),
  fails(
    'skills as names',
    card({ skills: ['planning'] }),
    /^skills\.0: must be an object with the fields name, description/,
    card({ skills: [{ name: 'planning', description: 'Plans' }] }),
  ),
  fails(
    'a skill with spaces',
    card({ skills: [{ name: 'My Skill', description: 'x' }] }),
    /^skills\.0\.name: must be a lower-case slug/,
    card({ skills: [{ name: 'my-skill', description: 'x' }] }),
  ),
  fails(
    'a decision as a boolean',
    ['respond_to_contact_request', { request_id: 'REQUESTER', approve: true }],
    /did you mean decision\?/,
    ['respond_to_contact_request', { request_id: 'REQUESTER', decision: 'approve' }],
  ),
  fails(
    'another word for a decision',
    ['respond_to_contact_request', { request_id: 'REQUESTER', decision: 'accept' }],
    'decision: must be one of: approve, reject.',
    ['respond_to_contact_request', { request_id: 'REQUESTER', decision: 'approve' }],
  ),
  fails(
    'a key with spaces',
    send({ idempotency_key: 'a b' }),
    /^idempotency_key: must be 1 to 255 visible ASCII characters\.$/,
    send({ idempotency_key: 'UUID' }),
  ),
];
