import {
  card,
  find,
  found,
  list,
  listed,
  open,
  opened,
  runs,
  send,
  sent,
  waited,
  waitNow,
  type Mistake,
} from './mistake.ts';

/** Models that must fill in every field send empty texts. */
export const emptyTexts: readonly Mistake[] = [
  ...(['status', 'cursor', 'limit', 'unread', 'with_handle', 'updated_since'] as const).map((field) =>
    runs(`an empty ${field}`, list({ [field]: '' }), listed),
  ),
  ...(
    [
      'content_type',
      'reply_to',
      'metadata',
      'attachment_ids',
      'idempotency_key',
      'reason',
      'lease_id',
    ] as const
  ).map((field) => runs(`an empty ${field}`, send({ [field]: '' }), sent)),
  ...(['thread_id', 'counterpart', 'from', 'after', 'has'] as const).map((field) =>
    runs(`an empty ${field} of a search`, find({ [field]: '' }), found),
  ),
  runs(
    'an empty cursor, types and thread of a wait',
    waitNow({ cursor: '', types: '', thread_id: '' }),
    waited,
  ),
  runs('an empty list of participants as a text', open({ participants: '' }), opened),
  runs('an empty first message', open({ initial_message: '' }), opened),
  runs(
    'an empty display name',
    card({ display_name: '', description: 'Tests' }),
    card({ description: 'Tests' }),
  ),
];
