import { z } from 'zod';
import { defaultInbox, leaseSeconds, maxLeasesPerCall } from '../domain/inbox.ts';
import { reportedTaskStates } from '../domain/tasks.ts';
import { isBlank } from '../domain/visible-text.ts';
import { inboxTypes } from '../events/inbox-types.ts';
import { content } from './fields.ts';
import { hasContent, messageFields, toDraft } from './messages.ts';

const [firstType, ...otherTypes] = inboxTypes;
if (!firstType) throw new Error('no event type can be an item');

const leaseId = z.string().max(64).describe('Lease identifier, lse_…, from a claim.');

export const deadItemId = z.string().max(64).describe('Id of the event of a dead item, evt_…');

const leaseLength = z
  .int()
  .min(leaseSeconds.min)
  .max(leaseSeconds.max)
  .describe('How long the lease lasts from now on, in seconds, 5–43,200.');

/** The settings of an inbox. */
const settingsFields = {
  types: z
    .array(z.enum([firstType, ...otherTypes]))
    .min(1)
    .refine((types) => new Set(types).size === types.length, 'must not contain duplicates')
    .default([...defaultInbox.types])
    .describe('The event types that become items. Default: message.created.'),
  lease_seconds: leaseLength
    .default(defaultInbox.lease_seconds)
    .describe('The length of a lease whose claim names none, 5–43,200.'),
  max_attempts: z
    .int()
    .min(1)
    .max(100)
    .default(defaultInbox.max_attempts)
    .describe('An item that was leased this often without an acknowledgement is dead, 1–100.'),
  ordered_by_thread: z
    .boolean()
    .default(defaultInbox.ordered_by_thread)
    .describe('Whether at most one item of a thread is leased at a time, the oldest one.'),
};

export const setInboxInput = z.strictObject({
  ...settingsFields,
  from: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe(
      'Events after this position become items: `now`, `earliest`, or a cursor. Default: `now` for a new inbox, otherwise no change.',
    ),
});

const maxWaitSeconds = 20;

export const claimMessagesInput = z.strictObject({
  max: z.int().min(1).max(maxLeasesPerCall).default(1).describe('Maximum number of leases, 1–100.'),
  lease_seconds: leaseLength.optional(),
  wait_seconds: z
    .int()
    .min(0)
    .max(maxWaitSeconds)
    .default(0)
    .describe('How long to wait for the first item, in seconds, 0–20.'),
  consumer: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('A name for this instance, at most 64 characters; default: that of your credential or app.'),
});

export const renewLeaseInput = z.strictObject({ lease_id: leaseId, lease_seconds: leaseLength });

const reply = z.union([content.min(1), z.strictObject({ ...messageFields, content: content.default('') })]);

export const acknowledgeMessageInput = z
  .strictObject({
    lease_id: leaseId,
    reply: reply
      .optional()
      .describe(
        'A message in the thread of the item, sent in the same transaction. It replies to its message, unless reply_to names another.',
      ),
    task_state: z
      .enum(reportedTaskStates)
      .optional()
      .describe('The state of the task that the reply belongs to. Default: completed.'),
  })
  .refine((value) => value.task_state === undefined || value.reply !== undefined, {
    path: ['task_state'],
    error: 'is only for a reply; use update_task to report a state without one',
  })
  .refine(({ reply: sent }) => typeof sent !== 'string' || sent === '' || !isBlank(sent), {
    path: ['reply'],
    error: 'must not be blank; leave it out to acknowledge without a reply',
  })
  .refine(({ reply: sent }) => typeof sent !== 'object' || hasContent(sent), {
    path: ['reply', 'content'],
    error: 'must not be empty without attachments',
  });

export function toReplyDraft(sent: z.infer<typeof reply>) {
  return toDraft(typeof sent === 'string' ? messageOf(sent) : sent);
}

const messageOf = (text: string) => z.object(messageFields).parse({ content: text });

export const acknowledgeMessagesInput = z.strictObject({
  ids: z.array(leaseId).min(1).max(maxLeasesPerCall).describe('Lease identifiers, at most 100.'),
});

export const releaseMessageInput = z.strictObject({
  lease_id: leaseId,
  delay_seconds: z
    .int()
    .min(0)
    .max(leaseSeconds.max)
    .default(0)
    .describe('How long no instance gets the item, in seconds, 0–43,200.'),
  reason: z
    .string()
    .max(500)
    .optional()
    .describe('Why you could not handle it, at most 500 characters. It is shown with dead items.'),
});
