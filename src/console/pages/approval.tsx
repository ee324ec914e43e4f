import { byPerson } from '../../domain/audit.ts';
import { type Approval, approvalForPerson, decideApproval } from '../../services/approvals.ts';
import { consequences, outcome, standings, wish } from '../approval-words.ts';
import { Handle } from '../kit/agents.tsx';
import { Badge, Card, Facts, Heading } from '../kit/content.tsx';
import { Actions, Button, ButtonLink, Form } from '../kit/form.tsx';
import { Time } from '../kit/time.tsx';
import { orWarning } from '../or-warning.ts';
import type { PageParts } from '../parts.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../route.ts';

const path = '/console/approvals/:id';

/** One question of an agent to its person. Programs give people the address of this page. */
export function approvalRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const id = params['id'] ?? '';
      return approvalPage(await unitOfWork.consult((all) => approvalForPerson(all, person.account_id, id)));
    }),
    action(path, async ({ params, person, form }) => {
      const { account_id } = person;
      const { id } = await unitOfWork.consult((all) =>
        approvalForPerson(all, account_id, params['id'] ?? ''),
      );
      const decision = form.get('decision') === 'approve' ? 'approved' : 'denied';
      return orWarning(`/console/approvals/${id}`, async () => {
        await unitOfWork.administer(
          (work) => decideApproval(work, account_id, id, decision),
          byPerson({ account_id }),
        );
        return decision === 'approved'
          ? 'Approved. You can go back to where the agent asked.'
          : 'Denied. Nothing is done.';
      });
    }),
  ];
}

function approvalPage(approval: Approval): ShownPage {
  const { id, agent_id, agent_handle, agent_display_name, client_name, message, state } = approval;
  const { created_at, expires_at, decided_at } = approval;
  const { word, tone } = standings[state];
  const waits = state === 'pending';
  const body = (
    <>
      <Heading
        title={
          <>
            <bdi>{agent_display_name}</bdi> {wish(approval)}
          </>
        }
        back={{ href: '/console/approvals', text: 'Approvals' }}
      />
      <Card>
        <p>
          <Badge tone={tone}>{word}</Badge> {outcome(approval)}
        </p>
        {waits && <p>{consequences[approval.action]}</p>}
        {message !== '' && (
          <div>
            <p class="hint">What it wants to say:</p>
            <blockquote class="quote">{message}</blockquote>
          </div>
        )}
        <Facts
          facts={[
            [
              'Your agent',
              <a href={`/console/agents/${agent_id}`} key="agent">
                <Handle of={agent_handle} />
              </a>,
            ],
            ['The other agent', <Handle of={approval.target} key="target" />],
            ...(client_name === ''
              ? []
              : [['Asked through, as it calls itself', <bdi key="client">{client_name}</bdi>] as const]),
            ['Asked', <Time at={created_at} key="asked" />],
            ...(waits ? [['Waits until', <Time at={expires_at} key="until" />] as const] : []),
            ...(decided_at === null ? [] : [['Decided', <Time at={decided_at} key="decided" />] as const]),
          ]}
        />
        {waits ? (
          <Form action={`/console/approvals/${id}`}>
            <Actions even>
              <Button name="decision" value="approve">
                Approve
              </Button>
              <Button kind="quiet" name="decision" value="deny">
                Deny
              </Button>
            </Actions>
          </Form>
        ) : (
          <Actions>
            <ButtonLink href="/console/approvals">All approvals</ButtonLink>
          </Actions>
        )}
      </Card>
    </>
  );
  return { title: `${agent_display_name} ${wish(approval)}`, body };
}
