import { addFavoriteOperation } from '../../../../operations/contacts/add-favorite.ts';
import { approveContactRequestOperation } from '../../../../operations/contacts/approve-contact-request.ts';
import { listContactRequestsOperation } from '../../../../operations/contacts/list-contact-requests.ts';
import { listContactsOperation } from '../../../../operations/contacts/list-contacts.ts';
import { rejectContactRequestOperation } from '../../../../operations/contacts/reject-contact-request.ts';
import { removeFavoriteOperation } from '../../../../operations/contacts/remove-favorite.ts';
import { withdrawContactRequestOperation } from '../../../../operations/contacts/withdraw-contact-request.ts';
import { type ActingAgent, actAsAgent, requireNotPaused } from '../../act-as-agent.ts';
import { Card, Notice } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { NextPage } from '../../components/next-page.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type PersonVisit, type ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';
import { OutgoingRequests, IncomingRequests, Contacts } from './rows.tsx';

const path = '/console/agents/:id/contacts';

/** Contacts and contact requests of an agent. */
export function contactListRoutes(parts: PageParts): ConsoleRoute[] {
  const actingIn = ({ params, person }: PersonVisit) => actAsAgent(parts, person, params['id'] ?? '');

  return [
    page(path, async (visit) => contactsPage(await actingIn(visit), visit.query)),
    action(`${path}/requests/decide`, async (visit) => {
      const { agent, call } = await actingIn(visit);
      const request_ref = visit.form.get('request_id') ?? '';
      return redirectOrWarn(agentAddress(agent, 'contacts'), async () => {
        if (visit.form.get('decision') !== 'approve') {
          await call(rejectContactRequestOperation, { request_ref });
          return 'Request rejected.';
        }
        requireNotPaused(agent);
        const { from } = await call(approveContactRequestOperation, { request_ref });
        return `@${from.canonical_handle} is now a contact.`;
      });
    }),
    action(`${path}/requests/withdraw`, async (visit) => {
      const { agent, call } = await actingIn(visit);
      return redirectOrWarn(agentAddress(agent, 'contacts'), async () => {
        await call(withdrawContactRequestOperation, { request_ref: visit.form.get('request_id') ?? '' });
        return 'Request withdrawn.';
      });
    }),
    action(`${path}/favorite`, async (visit) => {
      const { agent, call } = await actingIn(visit);
      const favorite = visit.form.get('favorite') === 'true';
      return redirectOrWarn(agentAddress(agent, 'contacts'), async () => {
        const operation = favorite ? addFavoriteOperation : removeFavoriteOperation;
        await call(operation, { agent_ref: visit.form.get('agent_id') ?? '' });
        return favorite ? 'Added to favorites.' : 'Removed from favorites.';
      });
    }),
  ];
}

/** The lists of the page. A query with a cursor for one list shows only that list. */
const lists = ['incoming', 'outgoing', 'contacts'] as const;

type List = (typeof lists)[number];

async function contactsPage({ agent, call }: ActingAgent, query: URLSearchParams): Promise<ShownPage> {
  const address = agentAddress(agent, 'contacts');
  const only = lists.find((list) => query.has(list));
  const cursorOf = (list: List) => (only === list ? { cursor: query.get(list) } : {});
  const isShown = (list: List) => only === undefined || only === list;
  const requests = async (direction: 'incoming' | 'outgoing') =>
    isShown(direction)
      ? call(listContactRequestsOperation, { direction, limit: 20, ...cursorOf(direction) })
      : undefined;
  const incoming = await requests('incoming');
  const outgoing = await requests('outgoing');
  const contacts = isShown('contacts')
    ? await call(listContactsOperation, { limit: 50, ...cursorOf('contacts') })
    : undefined;

  const body = (
    <>
      <AgentHeading agent={agent} />
      {only !== undefined && <a href={address}>All contacts and requests</a>}
      {agent.paused && (
        <Notice tone="warning" title="This agent is paused">
          Resume it in its settings to approve or send contact requests.
        </Notice>
      )}
      {incoming && incoming.requests.length > 0 && (
        <Card title="Received requests">
          <IncomingRequests agent={agent} requests={incoming.requests} />
          <NextPage path={address} next={{ incoming: incoming.next_cursor }} noun="requests" />
        </Card>
      )}
      {contacts && (
        <Card
          title="Contacts"
          action={<ButtonLink href={agentAddress(agent, 'contacts/new')}>Send contact request</ButtonLink>}
        >
          <Contacts agent={agent} contacts={contacts.contacts} />
          <NextPage path={address} next={{ contacts: contacts.next_cursor }} noun="contacts" />
        </Card>
      )}
      {outgoing && outgoing.requests.length > 0 && (
        <Card title="Sent requests">
          <OutgoingRequests agent={agent} requests={outgoing.requests} />
          <NextPage path={address} next={{ outgoing: outgoing.next_cursor }} noun="requests" />
        </Card>
      )}
    </>
  );
  return { title: `Contacts of ${agent.display_name}`, body };
}
