import { fails, find, found, list, runs, type Mistake } from './mistake.ts';

/** Times, sequences and search queries. */
export const times: readonly Mistake[] = [
  runs('a date', list({ updated_since: '2026-01-31' })),
  runs('a time of RFC 3339', list({ updated_since: '2026-01-31T09:00:00+02:00' })),
  runs('a time with a space', list({ updated_since: '2026-01-31 09:00' })),
  fails(
    'seconds',
    list({ updated_since: 1_795_690_000 }),
    'updated_since: must be milliseconds since the Unix epoch, such as 1795690000000, or an RFC 3339 time, such as 2026-11-26T09:00:00Z; this looks like seconds.',
    list({ updated_since: 1_795_690_000_000 }),
  ),
  fails(
    'seconds in a string',
    find({ after: '1795690000' }),
    /^after: .*milliseconds .*RFC 3339 .*seconds\.$/,
    find({ after: 1_795_690_000_000 }),
  ),
  fails(
    'seconds for an end',
    find({ before: 1_795_690_000 }),
    /^before: .*milliseconds .*RFC 3339/,
    find({ before: 1_795_690_000_000 }),
  ),
  fails(
    'words for a time',
    list({ updated_since: 'yesterday' }),
    /^updated_since: .*milliseconds .*RFC 3339/,
    list({ updated_since: '2026-11-25' }),
  ),
  fails(
    'a time for a sequence',
    ['get_thread', { thread_id: 'THREAD', before_sequence: '2026-11-26T09:00:00Z' }],
    /^before_sequence: must be the sequence number of a message, such as 12, not a time or an id\./,
    ['get_thread', { thread_id: 'THREAD', before_sequence: 2 }],
  ),
  fails(
    'milliseconds for a sequence',
    ['get_thread', { thread_id: 'THREAD', before_sequence: 1_795_690_000_000 }],
    /^before_sequence: must be the sequence number of a message/,
    ['get_thread', { thread_id: 'THREAD', before_sequence: 2 }],
  ),
  fails(
    'a message id for a sequence',
    ['mark_read', { thread_id: 'THREAD', up_to_sequence: 'MESSAGE' }],
    /^up_to_sequence: must be the sequence number of a message/,
    ['mark_read', { thread_id: 'THREAD', up_to_sequence: 1 }],
  ),
  fails(
    'latest for a sequence',
    ['wait_for_reply', { thread_id: 'THREAD', after_sequence: 'latest', wait_seconds: 0 }],
    /^after_sequence: must be the sequence number of a message/,
    ['wait_for_reply', { thread_id: 'THREAD', after_sequence: 1, wait_seconds: 0 }],
  ),
];

export const queries: readonly Mistake[] = [
  fails(
    'from: in a query',
    find({ query: 'from:FRIEND hello' }),
    'query: from: is not an operator. Pass it as from beside query, or quote it to find the word.',
    find({ from: 'FRIEND' }),
  ),
  fails(
    'in: in a query',
    find({ query: 'hello in:THREAD' }),
    /Pass it as thread_id beside query/,
    find({ thread_id: 'THREAD' }),
  ),
  fails(
    'to: in a query',
    find({ query: 'hello to:FRIEND' }),
    /Pass it as counterpart beside query/,
    find({ counterpart: 'FRIEND' }),
  ),
  fails(
    'after: in a query',
    find({ query: 'after:2026-01-01 hello' }),
    /Pass it as after beside query/,
    find({ after: '2026-01-01' }),
  ),
  fails(
    'before: in a query',
    find({ query: 'hello -before:2026-01-01' }),
    /Pass it as before beside query/,
    find({ before: '2026-01-01' }),
  ),
  fails(
    'has: in a query',
    find({ query: 'has:attachment hello' }),
    /Pass it as has beside query/,
    find({ has: 'attachment' }),
  ),
  fails('OR in a query', find({ query: 'hello OR start' }), /^query: OR is not an operator\./, found),
  fails(
    'AND in a query',
    find({ query: 'hello AND world' }),
    /^query: AND is not an operator\. All words of query must match/,
    find({ query: 'hello world' }),
  ),
  fails(
    'NOT in a query',
    find({ query: 'hello NOT world' }),
    /^query: NOT is not an operator\. .*-word excludes/,
    find({ query: 'hello -world' }),
  ),
  fails(
    'only an exclusion',
    find({ query: '-hello' }),
    /^query: must name at least one word to find\.$/,
    found,
  ),
  runs('operators in quotes', find({ query: '"from: bob" "this OR that"' })),
  fails('a wildcard alone', find({ query: '*' }), /^query: must name at least one word to find\.$/, found),
];
