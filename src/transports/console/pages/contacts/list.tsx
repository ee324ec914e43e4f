import { addFavoriteOperation } from '../../../../operations/contacts/add-favorite.ts';
import { approveContactRequestOperation } from '../../../../operations/contacts/approve-contact-request.ts';
import { listContactRequestsOperation } from '../../../../operations/contacts/list-contact-requests.ts';
import { listContactsOperation } from '../../../../operations/contacts/list-contacts.ts';
import { rejectContactRequestOperation } from '../../../../operations/contacts/reject-contact-request.ts';
import { removeFavoriteOperation } from '../../../../operations/contacts/remove-favorite.ts';
import { withdrawContactRequestOperation } from '../../../../operations/contacts/withdraw-contact-request.ts';
import { requireNotPaused } from '../../act-as-agent.ts';
import { Notice } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { listSection, pageInput } from '../../define/list.tsx';
import { agentPage, type AgentVisit } from '../agents/agent-page.tsx';
import { contactRow, incomingRow, outgoingRow } from './rows.tsx';

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
export const contactsPage = agentPage({
  path: 'contacts',
  title: ({ agent }) => `Contacts of ${agent.display_name}`,
  sections: [
    ({ query, address }) =>
      lists.some((name) => query.has(name)) && <a href={address}>All contacts and requests</a>,
    ({ agent }) =>
      agent.paused && (
        <Notice tone="warning" title="This agent is paused">
          Resume it in its settings to approve or send contact requests.
        </Notice>
      ),
    listSection({
      title: 'Received requests',
      label: 'Received requests',
      noun: 'requests',
      read: (visit) => readRequests(visit, 'incoming'),
      row: incomingRow,
    }),
    listSection({
      title: 'Contacts',
      label: 'Contacts',
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
    listSection({
      title: 'Sent requests',
      label: 'Sent requests',
      noun: 'requests',
      read: (visit) => readRequests(visit, 'outgoing'),
      row: outgoingRow,
    }),
  ],
  changes: {
    async 'requests/decide'({ agent, call, form }) {
      const request_ref = form.get('request_id') ?? '';
      if (form.get('decision') !== 'approve') {
        await call(rejectContactRequestOperation, { request_ref });
        return 'Request rejected.';
      }
      requireNotPaused(agent);
      const { from } = await call(approveContactRequestOperation, { request_ref });
      return `@${from.canonical_handle} is now a contact.`;
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
