import { inboxTypes } from '../../../../../packages/core/src/events/inbox-types.ts';
import { deleteInboxOperation } from '../../../../operations/inbox/delete-inbox.ts';
import { setInboxOperation } from '../../../../operations/inbox/set-inbox.ts';
import { checkboxField, checkboxesField, choicesField, textField } from '../../define/fields.tsx';
import { agentConfirmation, agentPage } from '../agents/agent-page.tsx';
import { codeOf, eventText } from '../webhooks/fields.tsx';
import { loadInbox, type OfInbox } from './inbox.tsx';

const fields = {
  types: checkboxesField(
    'Events',
    inboxTypes.map((type) => ({ value: type, title: eventText(type), text: codeOf(type) })),
    { class: 'event-types', error: 'Select at least one of these events.' },
  ),
  lease_seconds: textField(
    'Lease, in seconds',
    'An instance has this long for an item, unless it renews the lease. 5 to 43,200.',
    { plain: true, required: true },
  ),
  max_attempts: textField(
    'Attempts',
    'An item that was leased this often without an acknowledgement is dead. 1 to 100.',
    { plain: true, required: true },
  ),
  ordered_by_thread: checkboxField(
    'One item of a thread at a time',
    'The oldest first. Otherwise instances can work on several messages of a thread at once.',
  ),
};

/** Where a new inbox begins. */
const from = choicesField(
  'Which events become items',
  [
    { value: 'now', title: 'New events only' },
    { value: 'earliest', title: 'Also all earlier events that are kept' },
  ],
  { error: 'Choose one of these options.' },
);

/** A sent form says itself whether it is one of an inbox that is on. */
const isOn = ({ inbox, form: sent }: OfInbox & { form: URLSearchParams }) =>
  sent.size === 0 ? inbox !== undefined : !sent.has('from');
const titleOf = (visit: Parameters<typeof isOn>[0]) => (isOn(visit) ? 'Inbox settings' : 'Turn the inbox on');

/** Turns the inbox of an agent on, and changes its settings. */
export const inboxSettingsPage = agentPage({
  path: 'inbox/settings',
  load: loadInbox,
  title: titleOf,
  sections: ({ form }) => [
    form({
      title: (visit) => titleOf(visit),
      fields: (visit) => (isOn(visit) ? fields : { ...fields, from }),
      values({ inbox }) {
        const { lease_seconds, max_attempts, ...settings } = inbox ?? setInboxOperation.input.parse({});
        const numbers = { lease_seconds: String(lease_seconds), max_attempts: String(max_attempts) };
        return { ...settings, ...numbers, from: 'now' };
      },
      button: (visit) => (isOn(visit) ? 'Save' : 'Turn on'),
      cancel: ({ agentPath }) => agentPath('inbox'),
      async submit(visit, { lease_seconds, max_attempts, ...entered }) {
        const numbers = { lease_seconds: toNumber(lease_seconds), max_attempts: toNumber(max_attempts) };
        await visit.call(setInboxOperation, { ...entered, ...numbers });
        const text = isOn(visit) ? 'Inbox settings saved.' : 'The inbox is on.';
        return { to: visit.agentPath('inbox'), flash: text };
      },
    }),
  ],
});

/** A text that is not a number stays one, and is refused as such. */
function toNumber(entered: string): number | string {
  return /^-?\d{1,15}$/.test(entered) ? Number(entered) : entered;
}

/** Turns the inbox of an agent off. */
export const inboxOffPage = agentConfirmation({
  path: 'inbox/off',
  title: () => 'Turn the inbox off?',
  text: ({ agent }) => (
    <p>
      Its items are removed, also dead ones, and its leases end. The messages stay in their conversations, and
      the instances of @{agent.canonical_handle} can no longer claim them.
    </p>
  ),
  button: 'Turn off',
  back: ({ agentPath }) => agentPath('inbox'),
  async change({ call }) {
    await call(deleteInboxOperation);
    return 'The inbox is off.';
  },
});
