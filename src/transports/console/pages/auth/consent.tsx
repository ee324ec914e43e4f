import { authorFromPerson } from '../../../../domain/auth/audit.ts';
import type { AuthorizationRequest } from '../../../http/authorization-requests.ts';
import { DomainError } from '../../../../domain/errors.ts';
import type { Person } from '../../../../domain/auth/actor.ts';
import { listApprovedAgents } from '../../../../services/auth/connections.ts';
import {
  type AgentOfPerson,
  requireAgentOfPerson,
  listAgentsOfPerson,
  registerForPerson,
} from '../../../../services/people/agents.ts';
import { type Consent, consentPage } from './consent-page.tsx';
import { successFlash } from '../../flash.ts';
import { Card, Heading } from '../../components/content.tsx';
import type { PageParts } from '../../parts.ts';
import { orShowFormAgain } from '../../form-errors.ts';
import {
  type Answer,
  type ConsoleRoute,
  publicAction,
  publicPage,
  type ShownPage,
  signInAddress,
  type Visit,
} from '../../route.ts';

/** Where an app asks to act as an agent (OAuth 2.1, section 1.2, step B): the person decides, and chooses the agent. */
export function consentRoutes({ unitOfWork, requests }: PageParts): ConsoleRoute[] {
  const path = '/authorize/requests/:uid';

  async function show(
    request: AuthorizationRequest,
    person: Person,
    more: Partial<Pick<Consent, 'chosen' | 'choice_error' | 'refusal' | 'name' | 'search'>> = {},
  ): Promise<ShownPage> {
    const { account_id } = person;
    const { client, scopes } = request;
    const [agents, approved] = await unitOfWork.readAsSystem((all) =>
      Promise.all([
        listAgentsOfPerson(all, account_id, { right: 'acts_as' }),
        listApprovedAgents(all, account_id, client.client_id, scopes),
      ]),
    );
    const approvedAgentIds = new Set(approved);
    const { search = '' } = more;
    const found = agents.filter((agent) => matchesSearch(agent, search));
    const inOrder = found.toSorted(
      (a, b) => Number(approvedAgentIds.has(b.id)) - Number(approvedAgentIds.has(a.id)),
    );
    const only = agents.length === 1 ? agents[0]?.id : undefined;
    const chosen = more.chosen ?? approved[0] ?? only;
    return consentPage({
      ...more,
      request,
      person,
      agents: inOrder,
      total: agents.length,
      search,
      approvedAgentIds,
      chosen,
    });
  }

  /** Finds the request first: who is not signed in should not sign in for one that is over. */
  async function withRequest(
    visit: Visit,
    go: (request: AuthorizationRequest, person: Person) => Promise<Answer>,
  ): Promise<Answer> {
    const request = await requests.find(visit.ctx);
    if (!request) return requestOverPage();
    if (!visit.person) return { to: signInAddress(visit.ctx.path) };
    try {
      return await go(request, visit.person);
    } catch (error) {
      // Decided in another window while this answer was on its way.
      if (error instanceof DomainError && error.code === 'NOT_FOUND') return requestOverPage();
      throw error;
    }
  }

  async function approve(
    { ctx, form }: Visit,
    request: AuthorizationRequest,
    person: Person,
  ): Promise<Answer> {
    try {
      const chosen = form.get('agent_id') ?? '';
      const agent = await unitOfWork.readAsSystem((all) =>
        requireAgentOfPerson(all, person.account_id, chosen, 'acts_as'),
      );
      await requests.approve(ctx, request, person, agent);
      return 'handled';
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'AGENT_NOT_FOUND') throw error;
      return show(request, person, { choice_error: 'Choose one of your agents.' });
    }
  }

  function create({ ctx, form }: Visit, request: AuthorizationRequest, person: Person): Promise<Answer> {
    const name = (form.get('name') ?? '').trim();
    return orShowFormAgain(
      async () => {
        const input = { ...newAgentDefaults, name, display_name: name, skills: [] };
        const agent = await unitOfWork.writeAsSystem(
          (work) => registerForPerson(work, person.account_id, input),
          authorFromPerson(person),
        );
        const to = `${ctx.path}?${new URLSearchParams({ agent: agent.id }).toString()}`;
        return {
          to,
          flash: successFlash(`@${agent.canonical_handle} is ready. Choose whether the app may act as it.`),
        };
      },
      (refusal) => show(request, person, { refusal, name }),
    );
  }

  return [
    publicPage(path, (visit) =>
      withRequest(visit, (request, person) =>
        show(request, person, {
          chosen: visit.query.get('agent') ?? undefined,
          search: visit.query.get('search') ?? '',
        }),
      ),
    ),
    publicAction(path, (visit) =>
      withRequest(visit, async (request, person) => {
        const decision = visit.form.get('decision');
        if (decision === 'approve') return approve(visit, request, person);
        if (decision === 'create') return create(visit, request, person);
        if (decision !== 'cancel') return show(request, person, { choice_error: 'Press Approve or Cancel.' });
        await requests.deny(visit.ctx);
        return 'handled';
      }),
    ),
  ];
}

/** Whether somebody who searches for these letters means this agent. */
function matchesSearch({ canonical_handle, display_name }: AgentOfPerson, search: string): boolean {
  const letters = search.trim().toLowerCase().replace(/^@/, '');
  return canonical_handle.includes(letters) || display_name.toLowerCase().includes(letters);
}

/** As an agent is registered without saying more. */
const newAgentDefaults = {
  description: '',
  visibility: 'private',
  inbound_policy: 'contacts_only',
  card_body: '',
} as const;

function requestOverPage(): ShownPage {
  const body = (
    <>
      <Heading title="This request is over" />
      <Card>
        <p>
          You have answered it already, it has expired, or it was begun in another browser. Nothing more was
          approved just now.
        </p>
        <p>Go back to the app, and connect again from there.</p>
      </Card>
    </>
  );
  return { title: 'This request is over', body, status: 404, shell: 'focus' };
}
