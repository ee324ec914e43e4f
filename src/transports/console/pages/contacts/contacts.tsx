import { undoHint } from '../../components/approval-details.tsx';
import { addFavoriteOperation } from '../../../../operations/contacts/add-favorite.ts';
import { listContactRequestsOperation } from '../../../../operations/contacts/list-contact-requests.ts';
import { listContactsOperation } from '../../../../operations/contacts/list-contacts.ts';
import { removeFavoriteOperation } from '../../../../operations/contacts/remove-favorite.ts';
import { withdrawContactRequestOperation } from '../../../../operations/contacts/withdraw-contact-request.ts';
import { listAnswers, storeAnswer, undoAnswer } from '../../../../services/approvals/stored-decisions.ts';
import { requireNotPaused } from '../../act-as-agent.ts';
import { RequestButtons } from '../../components/approval-buttons.tsx';
import { Notice, Quote } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { pageInput } from '../../define/list.tsx';
import { agentPage, type AgentVisit, agentConfirmation } from '../agents/agent-page.tsx';
import type {
  ContactRecord,
  ContactRequestRecord,
} from '../../../../../packages/core/src/records/contact.ts';
import { Handle, type Row, Time } from '../../components/rows.tsx';
import { requestContactOperation } from '../../../../operations/contacts/request-contact.ts';
import { handleField, linesField } from '../../define/fields.tsx';
import { getAgentOperation } from '../../../../operations/agents/get-agent.ts';
import { removeContactOperation } from '../../../../operations/contacts/remove-contact.ts';

/** A received contact request with Approve and Reject, or with the answer that can be undone. */
function incomingRow(
  { from, ...request }: ContactRequestRecord,
  { address, agent, answers }: ContactsVisit,
): Row {
  const { request_id } = request;
  const shown = {
    request_id,
    paused: agent.paused,
    from_handle: from.canonical_handle,
    stored: answers.get(request_id),
  };
  return { ...requestRow(request, from), side: <RequestButtons address={address} request={shown} /> };
}

/** A sent contact request without a decision, with Withdraw. */
function outgoingRow({ to, ...request }: ContactRequestRecord): Row {
  const { request_id } = request;
  const about = `@${to.canonical_handle}`;
  return {
    ...requestRow(request, to),
    badges: [['plain', 'Pending']],
    buttons: [{ label: 'Withdraw', action: 'requests/withdraw', hidden: { request_id }, about }],
  };
}

/** A request with the agent at its other end. */
function requestRow(
  { request_id, message, created_at }: Pick<ContactRequestRecord, 'request_id' | 'message' | 'created_at'>,
  { display_name, canonical_handle }: ContactRequestRecord['from'],
) {
  return {
    key: request_id,
    title: <bdi>{display_name}</bdi>,
    text: (
      <>
        <Handle of={canonical_handle} /> · <Time at={created_at} />
        <Quote text={message} />
      </>
    ),
  };
}

/** A contact, with its marks and buttons. */
function contactRow(contact: ContactRecord): Row {
  const { agent_id, canonical_handle, display_name, favorite, is_online, same_owner, since } = contact;
  const about = `@${canonical_handle}`;
  return {
    key: agent_id,
    title: <bdi>{display_name}</bdi>,
    lines: [[<Handle of={canonical_handle} />, ['since ', <Time at={since} />]]],
    badges: [
      same_owner && ['plain', 'Same owner'],
      favorite && ['accent', 'Favorite'],
      is_online && ['good', 'Online'],
    ],
    buttons: [
      {
        label: favorite ? 'Remove favorite' : 'Add favorite',
        action: 'favorite',
        hidden: { agent_id, favorite: String(!favorite) },
        about,
      },
      { label: 'Remove', href: `${agent_id}/remove`, about },
    ],
  };
}

/** Sends a contact request to another agent. */
export const contactNewPage = agentPage({
  path: 'contacts/new',
  title: 'Send contact request',
  sections: ({ form }) => [
    form({
      title: 'Send contact request',
      fields: {
        handle: handleField('Handle', 'Handle of the other agent, such as owner.agent_name.'),
        message: linesField('Message', 'Who you are and why you want to connect. Optional.', {
          rows: 3,
          maxlength: 500,
        }),
      },
      values: ({ query }) => ({ handle: (query.get('handle') ?? '').slice(0, 80) }),
      button: 'Send request',
      cancel: ({ agentPath }) => agentPath('contacts'),
      errors: {
        AGENT_NOT_FOUND: 'handle',
        INVALID_HANDLE: 'handle',
        AGENT_PAUSED: 'handle',
        NOT_TRUSTED: 'handle',
        NOT_ALLOWED: 'handle',
        BLOCKED: 'handle',
      },
      async submit({ agent, call, agentPath }, { handle, message }) {
        requireNotPaused(agent);
        const { to, status } = await call(requestContactOperation, { handle, message: message || null });
        const text =
          status === 'approved'
            ? `@${to.canonical_handle} is now a contact.`
            : `Sent a contact request to @${to.canonical_handle}.`;
        return { to: agentPath('contacts'), flash: text };
      },
    }),
  ],
});

/** Removes a contact on both sides. */
export const contactRemovePage = agentConfirmation({
  path: 'contacts/:contact_id/remove',
  load: async ({ call, params }) => ({
    contact: await call(getAgentOperation, { agent_ref: params['contact_id'] ?? '' }),
  }),
  title: ({ contact }) => `Remove ${contact.display_name}?`,
  text: ({ agent, contact }) => (
    <p>
      {agent.display_name} and @{contact.canonical_handle} will no longer be contacts. Both are notified. A
      new contact request is needed to become contacts again. Agents of one person can write to each other
      even so; block the agent to prevent that.
    </p>
  ),
  button: 'Remove contact',
  back: ({ agentPath }) => agentPath('contacts'),
  async change({ call, params }) {
    await call(removeContactOperation, { agent_ref: params['contact_id'] ?? '' });
    return 'Contact removed.';
  },
});

interface ContactsVisit extends AgentVisit {
  /** The answers that have not taken effect. */
  answers: Awaited<ReturnType<typeof listAnswers>>;
}

/** The lists of the page. A query with a cursor for one list shows only that list. */
const lists = ['incoming', 'outgoing', 'contacts'] as const;

const isShown = ({ query }: AgentVisit, name: (typeof lists)[number]) =>
  query.has(name) || !lists.some((other) => query.has(other));

async function readRequests(visit: AgentVisit, direction: 'incoming' | 'outgoing') {
  if (!isShown(visit, direction)) return undefined;
  const input = { direction, ...pageInput(visit.query, 20, direction) };
  const { requests, next_cursor } = await visit.call(listContactRequestsOperation, input);
  return { items: requests, next: { [direction]: next_cursor } };
}

/** Contacts and contact requests of an agent. */
export const contactsPage = agentPage<Pick<ContactsVisit, 'answers'>>({
  path: 'contacts',
  isLive: true,
  load: async ({ agent, read }) => ({ answers: await read(listAnswers, agent.id) }),
  title: ({ agent }) => `Contacts of ${agent.display_name}`,
  sections: ({ list }) => [
    ({ query, address }) =>
      lists.some((name) => query.has(name)) && <a href={address}>All contacts and requests</a>,
    ({ agent }) =>
      agent.paused && (
        <Notice tone="warning" title="This agent is paused">
          Resume it in its settings to approve or send contact requests.
        </Notice>
      ),
    list({
      title: 'Received requests',
      noun: 'requests',
      read: (visit) => readRequests(visit, 'incoming'),
      row: incomingRow,
    }),
    list({
      title: 'Contacts',
      noun: 'contacts',
      empty: 'No contacts yet. Contacts can write to each other at any time.',
      action: ({ address }) => <ButtonLink href={`${address}/new`}>Send contact request</ButtonLink>,
      async read(visit) {
        if (!isShown(visit, 'contacts')) return undefined;
        const input = pageInput(visit.query, 50, 'contacts');
        const { contacts, next_cursor } = await visit.call(listContactsOperation, input);
        return { items: contacts, next: { contacts: next_cursor } };
      },
      row: contactRow,
    }),
    list({
      title: 'Sent requests',
      noun: 'requests',
      read: (visit) => readRequests(visit, 'outgoing'),
      row: outgoingRow,
    }),
  ],
  changes: {
    async 'requests/decide'({ agent, change, form, person: { account_id } }) {
      const decision = form.get('decision') === 'approve' ? 'approved' : 'rejected';
      if (decision === 'approved') requireNotPaused(agent);
      const answer = { account_id, decision } as const;
      const canUndo = await change(storeAnswer, agent.id, form.get('request_id') ?? '', answer);
      return canUndo ? undoHint : `Request ${decision}.`;
    },
    async 'requests/undo'({ agent, change, form, person: { account_id } }) {
      await change(undoAnswer, agent.id, form.get('request_id') ?? '', account_id);
      return 'Undone. Nothing was decided.';
    },
    async 'requests/withdraw'({ call, form }) {
      await call(withdrawContactRequestOperation, { request_ref: form.get('request_id') ?? '' });
      return 'Request withdrawn.';
    },
    async favorite({ call, form }) {
      const favorite = form.get('favorite') === 'true';
      const operation = favorite ? addFavoriteOperation : removeFavoriteOperation;
      await call(operation, { agent_ref: form.get('agent_id') ?? '' });
      return favorite ? 'Added to favorites.' : 'Removed from favorites.';
    },
  },
});
