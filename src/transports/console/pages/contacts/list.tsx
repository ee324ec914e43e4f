import { addFavoriteOperation } from '../../../../operations/contacts/add-favorite.ts';
import { approveContactRequestOperation } from '../../../../operations/contacts/approve-contact-request.ts';
import { listContactRequestsOperation } from '../../../../operations/contacts/list-contact-requests.ts';
import { listContactsOperation } from '../../../../operations/contacts/list-contacts.ts';
import { rejectContactRequestOperation } from '../../../../operations/contacts/reject-contact-request.ts';
import { removeFavoriteOperation } from '../../../../operations/contacts/remove-favorite.ts';
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

/** Whom an agent knows, and who asks to be known. */
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
          return 'The request is rejected.';
        }
        requireNotPaused(agent);
        const { from } = await call(approveContactRequestOperation, { request_ref });
        return `@${from.canonical_handle} is a contact now.`;
      });
    }),
    action(`${path}/favorite`, async (visit) => {
      const { agent, call } = await actingIn(visit);
      const favorite = visit.form.get('favorite') === 'true';
      return redirectOrWarn(agentAddress(agent, 'contacts'), async () => {
        const operation = favorite ? addFavoriteOperation : removeFavoriteOperation;
        await call(operation, { agent_ref: visit.form.get('agent_id') ?? '' });
        return favorite ? 'It is a favorite now.' : 'It is no favorite any more.';
      });
    }),
  ];
}

/** The lists of the page. Its address goes on in one of them at a time, and then shows that one alone. */
const lists = ['incoming', 'outgoing', 'contacts'] as const;

type List = (typeof lists)[number];

async function contactsPage({ agent, call }: ActingAgent, query: URLSearchParams): Promise<ShownPage> {
  const address = agentAddress(agent, 'contacts');
  const only = lists.find((list) => query.has(list));
  const place = (list: List) => (only === list ? { cursor: query.get(list) } : {});
  const wanted = (list: List) => only === undefined || only === list;
  const requests = async (direction: 'incoming' | 'outgoing') =>
    wanted(direction)
      ? call(listContactRequestsOperation, { direction, limit: 20, ...place(direction) })
      : undefined;
  const incoming = await requests('incoming');
  const outgoing = await requests('outgoing');
  const contacts = wanted('contacts')
    ? await call(listContactsOperation, { limit: 50, ...place('contacts') })
    : undefined;

  const body = (
    <>
      <AgentHeading agent={agent} />
      {only !== undefined && <a href={address}>All of its contacts and requests</a>}
      {agent.paused && (
        <Notice tone="warning" title="This agent is paused">
          Resume it under Settings to approve requests or to ask others.
        </Notice>
      )}
      {incoming && incoming.requests.length > 0 && (
        <Card title="They ask for contact">
          <IncomingRequests agent={agent} requests={incoming.requests} />
          <NextPage path={address} next={{ incoming: incoming.next_cursor }} what="requests" />
        </Card>
      )}
      {contacts && (
        <Card
          title="Contacts"
          action={<ButtonLink href={agentAddress(agent, 'contacts/new')}>Ask for contact</ButtonLink>}
        >
          <Contacts agent={agent} contacts={contacts.contacts} />
          <NextPage path={address} next={{ contacts: contacts.next_cursor }} what="contacts" />
        </Card>
      )}
      {outgoing && outgoing.requests.length > 0 && (
        <Card title="It asked for contact">
          <OutgoingRequests requests={outgoing.requests} />
          <NextPage path={address} next={{ outgoing: outgoing.next_cursor }} what="requests" />
        </Card>
      )}
    </>
  );
  return { title: `Contacts of ${agent.display_name}`, body };
}
