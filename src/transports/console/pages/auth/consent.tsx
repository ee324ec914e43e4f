import { defaultVisibility } from '../../../../../packages/core/src/domain/agents/agents.ts';
import type { AuthorizationRequest } from '../../../http/authorization-requests.ts';
import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import type { Person } from '../../../../../packages/core/src/domain/auth/actor.ts';
import { listApprovedAgents } from '../../../../services/auth/connections.ts';
import {
  type AgentOfPerson,
  requireAgentOfPerson,
  listAgentsOfPerson,
  registerForPerson,
} from '../../../../services/people/agents.ts';
import { type Consent, consentPage } from './consent-page.tsx';
import { focusPage } from '../../define/focus-page.tsx';
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

const path = '/authorize/requests/:uid';

/** The consent pages (OAuth 2.1, section 1.2, step B): a person chooses an agent and approves or denies an app. */
export function consentRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    publicPage(path, (visit) =>
      withRequest(parts, visit, (request, person) =>
        showConsent(parts, request, person, {
          chosen: visit.query.get('agent') ?? undefined,
          search: visit.query.get('search') ?? '',
        }),
      ),
    ),
    publicAction(path, (visit) =>
      withRequest(parts, visit, async (request, person) => {
        const decision = visit.form.get('decision');
        if (decision === 'approve') return approveRequest(parts, visit, request, person);
        if (decision === 'create') return createAgent(parts, visit, request, person);
        if (decision !== 'cancel') {
          return showConsent(parts, request, person, { choice_error: 'Press Approve or Cancel.' });
        }
        await parts.requests.deny(visit.ctx, request, person);
        return 'handled';
      }),
    ),
  ];
}

/** Finds the request before the sign-in check, so that a person does not sign in for an expired request. */
async function withRequest(
  { requests }: PageParts,
  visit: Visit,
  run: (request: AuthorizationRequest, person: Person) => Promise<Answer>,
): Promise<Answer> {
  const request = await requests.find(visit.ctx);
  if (!request) return showOutcome(requests, visit);
  if (!visit.person) return { to: signInAddress(visit.ctx.path) };
  try {
    return await run(request, visit.person);
  } catch (error) {
    // Decided in another window in the meantime, or by a button pressed twice.
    if (error instanceof DomainError && error.code === 'NOT_FOUND') return showOutcome(requests, visit);
    throw error;
  }
}

/** What became of a request that is no longer open. */
async function showOutcome(
  requests: PageParts['requests'],
  { ctx, person }: Pick<Visit, 'ctx' | 'person'>,
): Promise<Answer> {
  const outcome = person && (await requests.outcome(ctx, person));
  if (!outcome) return requestExpiredPage();
  if ('to' in outcome) return outcome;
  const { app, handle } = outcome;
  const isApproved = handle !== null;
  return focusPage(
    isApproved ? 'You approved this request' : 'You denied this request',
    <>
      <p>
        <bdi>{app}</bdi>{' '}
        {isApproved ? (
          <>
            may act as <strong>@{handle}</strong>.
          </>
        ) : (
          'got no access.'
        )}
      </p>
      <p>
        Return to the app. If it does not continue, connect again there.
        {isApproved && (
          <>
            {' '}
            You can disconnect it under <a href="/console/connections">Connected apps</a>.
          </>
        )}
      </p>
    </>,
  );
}

async function showConsent(
  { services }: PageParts,
  request: AuthorizationRequest,
  person: Person,
  options: Partial<Pick<Consent, 'chosen' | 'choice_error' | 'formErrors' | 'name' | 'search'>> = {},
): Promise<ShownPage> {
  const { account_id } = person;
  const { client, scopes } = request;
  const [agents, approved] = await Promise.all([
    services.read(listAgentsOfPerson, account_id, { right: 'acts_as' as const }),
    services.read(listApprovedAgents, account_id, client.client_id, scopes),
  ]);
  const approvedAgentIds = new Set(approved);
  const { search = '' } = options;
  const found = agents.filter((agent) => matchesSearch(agent, search));
  const sorted = found.toSorted(
    (a, b) => Number(approvedAgentIds.has(b.id)) - Number(approvedAgentIds.has(a.id)),
  );
  const onlyAgentId = agents.length === 1 ? agents[0]?.id : undefined;
  return consentPage({
    ...options,
    request,
    person,
    agents: sorted,
    total: agents.length,
    search,
    approvedAgentIds,
    chosen: options.chosen ?? approved[0] ?? onlyAgentId,
  });
}

async function approveRequest(
  parts: PageParts,
  { ctx, form }: Visit,
  request: AuthorizationRequest,
  person: Person,
): Promise<Answer> {
  try {
    const agent_id = form.get('agent_id') ?? '';
    const agent = await parts.services.read(requireAgentOfPerson, person.account_id, agent_id, 'acts_as');
    await parts.requests.approve(ctx, request, person, agent);
    return 'handled';
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'AGENT_NOT_FOUND') throw error;
    return showConsent(parts, request, person, { choice_error: 'Choose one of your agents.' });
  }
}

function createAgent(
  parts: PageParts,
  { ctx, form }: Visit,
  request: AuthorizationRequest,
  person: Person,
): Promise<Answer> {
  const name = (form.get('name') ?? '').trim();
  return orShowFormAgain(
    async () => {
      const input = { ...newAgentDefaults, name, display_name: name, skills: [] };
      const agent = await parts.services.write(person, registerForPerson, person.account_id, input);
      return {
        to: `${ctx.path}?${new URLSearchParams({ agent: agent.id }).toString()}`,
        flash: `Created @${agent.canonical_handle}. Choose whether the app may act as it.`,
      };
    },
    (formErrors) => showConsent(parts, request, person, { formErrors, name }),
  );
}

/** Whether the handle or display name of an agent contains the search text. */
function matchesSearch({ canonical_handle, display_name }: AgentOfPerson, search: string): boolean {
  const text = search.trim().toLowerCase().replace(/^@/, '');
  return canonical_handle.includes(text) || display_name.toLowerCase().includes(text);
}

/** Defaults of an agent that is registered with only a name. */
const newAgentDefaults = {
  description: '',
  visibility: defaultVisibility,
  inbound_policy: 'contacts_only',
  card_body: '',
} as const;

function requestExpiredPage(): ShownPage {
  return focusPage(
    'This request is no longer valid',
    <>
      <p>It was already answered, it has expired, or it was started in another browser.</p>
      <p>Return to the app and connect again.</p>
    </>,
    { status: 404 },
  );
}
