import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { authorFromPerson } from '../../../../../packages/core/src/domain/auth/audit.ts';
import {
  type Approval,
  requireApprovalForPerson,
  decideAsPerson,
} from '../../../../services/approvals/approvals.ts';
import { consequenceText, outcomeText, stateLabels, requestText } from './approval-text.ts';
import { cardPath, Handle } from '../../components/agent-rows.tsx';
import { Badge, Card, Facts, Heading } from '../../components/content.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import { Time } from '../../components/time.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';

const path = '/console/approvals/:id';

/** One approval. Clients show the address of this page to their user. */
export function approvalRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const id = params['id'] ?? '';
      return approvalPage(
        await unitOfWork.read(system, (work) => requireApprovalForPerson(work, person.account_id, id)),
      );
    }),
    action(path, async ({ params, person, form }) => {
      const { account_id } = person;
      const { id } = await unitOfWork.read(system, (work) =>
        requireApprovalForPerson(work, account_id, params['id'] ?? ''),
      );
      const decision = form.get('decision') === 'approve' ? 'approved' : 'denied';
      return redirectOrWarn(`/console/approvals/${id}`, async () => {
        await unitOfWork.write(authorFromPerson({ account_id }), (work) =>
          decideAsPerson(work, account_id, id, decision),
        );
        return decision === 'approved' ? 'Approved, and done. You can return to the app.' : 'Denied.';
      });
    }),
  ];
}

/** The card of an agent, as every visitor sees it. */

function approvalPage(approval: Approval): ShownPage {
  const { id, agent_id, agent_handle, agent_display_name, client_name, message, state } = approval;
  const { created_at, expires_at, decided_at } = approval;
  const { label, tone } = stateLabels[state];
  const isPending = state === 'pending';
  const body = (
    <>
      <Heading
        title={
          <>
            <bdi>{agent_display_name}</bdi> {requestText(approval)}
          </>
        }
        back={{ href: '/console/approvals', text: 'Approvals' }}
      />
      <Card>
        <p>
          <Badge tone={tone}>{label}</Badge> {outcomeText(approval)}
        </p>
        {isPending && <p>{consequenceText[approval.action]}</p>}
        {message !== '' && (
          <div>
            <p class="hint">Message:</p>
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
            [
              'Other agent',
              <a href={cardPath(approval.target)} key="target">
                <Handle of={approval.target} />
              </a>,
            ],
            ...(client_name === ''
              ? []
              : [['App, name not verified', <bdi key="client">{client_name}</bdi>] as const]),
            ['Requested', <Time at={created_at} key="requested" />],
            ...(isPending ? [['Expires', <Time at={expires_at} key="until" />] as const] : []),
            ...(decided_at === null ? [] : [['Decided', <Time at={decided_at} key="decided" />] as const]),
          ]}
        />
        {isPending ? (
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
  return { title: `${agent_display_name} ${requestText(approval)}`, body };
}
