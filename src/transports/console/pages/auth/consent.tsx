import type { AuthorizationRequest } from '../../../http/authorization-requests.ts';
import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import { parseInput } from '../../../../../packages/core/src/inputs/parse-input.ts';
import { registerAgentOperation } from '../../../../operations/agents/register-agent.ts';
import { searchAgents } from '../../../../services/people/agent-states.ts';
import { listApprovedAgents } from '../../../../services/auth/connections.ts';
import {
  requireAgentOfPerson,
  listAgentsOfPerson,
  registerForPerson,
} from '../../../../services/people/agents.ts';
import { type Consent, consentPage } from './consent-page.tsx';
import { focusPage } from '../../define/focus-page.tsx';
import { orShowFormAgain } from '../../form-errors.ts';
import {
  type Answer,
  type PersonVisit,
  publicAction,
  publicPage,
  type ShownPage,
  signInAddress,
  type Visit,
} from '../../route.ts';

const path = '/authorize/requests/:uid';

/** A request to a page on which a person decides about an app. */
interface ConsentVisit extends PersonVisit {
  request: AuthorizationRequest;
}

/** The consent pages (OAuth 2.1, section 1.2, step B): a person chooses an agent and approves or denies an app. */
export const consentRoutes = [
  publicPage(path, (visit) =>
    withRequest(visit, (asked) => {
      const { query } = asked;
      return showConsent(asked, {
        chosen: query.get('agent') ?? undefined,
        search: query.get('search') ?? '',
      });
    }),
  ),
  publicAction(path, (visit) =>
    withRequest(visit, async (asked) => {
      const { ctx, form, parts, person, request } = asked;
      const decision = form.get('decision');
      if (decision === 'approve') return approveRequest(asked);
      if (decision === 'create') return createAgent(asked);
      if (decision !== 'cancel') return showConsent(asked, { choice_error: 'Press Approve or Cancel.' });
      await parts.requests.deny(ctx, request, person);
      return 'handled';
    }),
  ),
];

/** Finds the request before the sign-in check, so that a person does not sign in for an expired request. */
async function withRequest(visit: Visit, run: (visit: ConsentVisit) => Promise<Answer>): Promise<Answer> {
  const { ctx, parts, person } = visit;
  const request = await parts.requests.find(ctx);
  if (!request) return showOutcome(visit);
  if (!person) return { to: signInAddress(ctx.path) };
  try {
    return await run({ ...visit, person, request });
  } catch (error) {
    // Decided in another window in the meantime, or by a button pressed twice.
    if (error instanceof DomainError && error.code === 'NOT_FOUND') return showOutcome(visit);
    throw error;
  }
}

/** What became of a request that is no longer open. */
async function showOutcome({ ctx, parts, person }: Visit): Promise<Answer> {
  const outcome = person && (await parts.requests.outcome(ctx, person));
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
  { read, request, person }: ConsentVisit,
  options: Partial<Pick<Consent, 'chosen' | 'choice_error' | 'formErrors' | 'name' | 'search'>> = {},
): Promise<ShownPage> {
  const { account_id } = person;
  const { client, scopes } = request;
  const [agents, approved] = await Promise.all([
    read(listAgentsOfPerson, account_id, { right: 'acts_as' as const }),
    read(listApprovedAgents, account_id, client.client_id, scopes),
  ]);
  const approvedAgentIds = new Set(approved);
  const { search = '' } = options;
  const sorted = searchAgents(agents, search).toSorted(
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

async function approveRequest(visit: ConsentVisit): Promise<Answer> {
  const { ctx, form, parts, person, read, request } = visit;
  try {
    const agent = await read(requireAgentOfPerson, person.account_id, form.get('agent_id') ?? '', 'acts_as');
    await parts.requests.approve(ctx, request, person, agent);
    return 'handled';
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'AGENT_NOT_FOUND') throw error;
    return showConsent(visit, { choice_error: 'Choose one of your agents.' });
  }
}

function createAgent(visit: ConsentVisit): Promise<Answer> {
  const { ctx, form, person, write } = visit;
  const name = (form.get('name') ?? '').trim();
  return orShowFormAgain(
    async () => {
      const input = parseInput(registerAgentOperation.input, { name, display_name: name });
      const agent = await write(registerForPerson, person.account_id, input);
      return {
        to: `${ctx.path}?${new URLSearchParams({ agent: agent.id }).toString()}`,
        flash: `Created @${agent.canonical_handle}. Choose whether the app may act as it.`,
      };
    },
    (formErrors) => showConsent(visit, { formErrors, name }),
  );
}

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
