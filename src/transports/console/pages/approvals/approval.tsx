import {
  type Approval,
  requireApprovalForPerson,
  decideAsPerson,
} from '../../../../services/approvals/approvals.ts';
import { cardPath, Handle, Time } from '../../components/rows.tsx';
import { Badge, Card, Facts, Heading } from '../../components/content.tsx';
import { Actions, ButtonLink, Decision } from '../../components/form.tsx';
import { definePage, type PageVisit } from '../../define/page.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import { consequenceText, outcomeText, stateLabels, requestText } from './approval-text.ts';

interface ApprovalVisit extends PageVisit {
  approval: Approval;
}

const back = { href: '/console/approvals', text: 'Approvals' };

/** One approval. Clients show the address of this page to their user. */
export const approvalPage = definePage<ApprovalVisit>({
  path: '/console/approvals/:id',
  load: async (visit) => ({
    ...visit,
    approval: await visit.read(requireApprovalForPerson, visit.person.account_id, visit.params['id'] ?? ''),
  }),
  title: ({ approval }) => `${approval.agent_display_name} ${requestText(approval)}`,
  heading({ approval }) {
    const title = (
      <>
        <bdi>{approval.agent_display_name}</bdi> {requestText(approval)}
      </>
    );
    return <Heading title={title} back={back} />;
  },
  sections: [
    {
      show: ({ approval, address }) => <Details approval={approval} address={address} />,
      form: {
        name: '',
        submit: ({ address, approval, form, person, write }) =>
          redirectOrWarn(address, async () => {
            const decision = form.get('decision') === 'approve' ? 'approved' : 'denied';
            await write(decideAsPerson, person.account_id, approval.id, decision);
            return decision === 'approved' ? 'Approved, and done. You can return to the app.' : 'Denied.';
          }),
      },
    },
  ],
});

function Details({ approval, address }: { approval: Approval; address: string }) {
  const { agent_id, agent_handle, client_name, message, state, created_at, expires_at, decided_at } =
    approval;
  const { label, tone } = stateLabels[state];
  const isPending = state === 'pending';
  return (
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
            <a href={`/console/agents/${agent_id}`}>
              <Handle of={agent_handle} />
            </a>,
          ],
          [
            'Other agent',
            <a href={cardPath(approval.target)}>
              <Handle of={approval.target} />
            </a>,
          ],
          client_name !== '' && ['App, name not verified', <bdi>{client_name}</bdi>],
          ['Requested', <Time at={created_at} />],
          isPending && ['Expires', <Time at={expires_at} />],
          decided_at !== null && ['Decided', <Time at={decided_at} />],
        ]}
      />
      {isPending ? (
        <Decision action={address} yes="approve" no="deny" isLarge />
      ) : (
        <Actions>
          <ButtonLink href={back.href}>All approvals</ButtonLink>
        </Actions>
      )}
    </Card>
  );
}
