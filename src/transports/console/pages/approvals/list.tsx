import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { isId } from '../../../../../packages/core/src/domain/ids.ts';
import { type Approval, listApprovals } from '../../../../services/approvals/approvals.ts';
import { stateLabels, requestText } from './approval-text.ts';
import { Handle, monogram } from '../../components/agent-rows.tsx';
import { Badge, Card, Empty, Heading } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { Rows } from '../../components/rows.tsx';
import { NextPage } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import type { PageParts } from '../../parts.ts';
import { type ConsoleRoute, page, type ShownPage } from '../../route.ts';

const path = '/console/approvals';
const pageSize = 25;
const maxRecentDecisions = 5;

/** Pending and decided approvals of a person. */
export function approvalListRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ query, person }) => {
      const cursor = query.get('before') ?? '';
      const before = isId('approval', cursor) ? cursor : '';
      const list = (pending: boolean, limit: number) =>
        unitOfWork.read(system, (work) => listApprovals(work, person.account_id, { pending, before, limit }));
      if (query.get('show') === 'decided') return decidedPage(await list(false, pageSize + 1));
      const decided = before === '' ? await list(false, maxRecentDecisions) : [];
      return pendingPage(await list(true, pageSize + 1), decided);
    }),
  ];
}

function pendingPage(found: readonly Approval[], decided: readonly Approval[]): ShownPage {
  const pending = found.slice(0, pageSize);
  const last = found.length > pageSize ? pending.at(-1) : undefined;
  const body = (
    <>
      <Heading title="Approvals" lead="Actions of your agents that need your approval." />
      {pending.length === 0 ? (
        <Empty title="No pending approvals">
          An agent that adds or removes a contact through MCP needs your approval. Pending approvals are
          listed here.
        </Empty>
      ) : (
        <Card title="Pending">
          <ApprovalRows approvals={pending} />
        </Card>
      )}
      <NextPage path={path} noun="approvals" next={last && { before: last.id }} />
      {decided.length > 0 && (
        <Card title="Recently decided" action={<a href={`${path}?show=decided`}>All decided</a>}>
          <ApprovalRows approvals={decided} />
        </Card>
      )}
    </>
  );
  return { title: 'Approvals', body };
}

function decidedPage(found: readonly Approval[]): ShownPage {
  const decided = found.slice(0, pageSize);
  const last = found.length > pageSize ? decided.at(-1) : undefined;
  const body = (
    <>
      <Heading title="Decided approvals" back={{ href: path, text: 'Approvals' }} />
      <Card>
        {decided.length === 0 ? <p>No decided approvals yet.</p> : <ApprovalRows approvals={decided} />}
      </Card>
      <NextPage path={path} noun="approvals" next={last && { show: 'decided', before: last.id }} />
    </>
  );
  return { title: 'Decided approvals', body };
}

function ApprovalRows({ approvals }: { approvals: readonly Approval[] }) {
  const rows = approvals.map((approval) => {
    const { id, agent_display_name, agent_handle, created_at, decided_at, state } = approval;
    const { label, tone } = stateLabels[state];
    const address = `${path}/${id}`;
    return {
      key: id,
      mark: monogram(agent_display_name),
      title: (
        <a href={address}>
          <bdi>{agent_display_name}</bdi> {requestText(approval)}
        </a>
      ),
      text: (
        <>
          <Handle of={agent_handle} /> · requested <Time at={created_at} />
          {decided_at !== null && (
            <>
              {' '}
              · decided <Time at={decided_at} />
            </>
          )}
        </>
      ),
      side:
        state === 'pending' ? (
          <ButtonLink href={address} kind="primary">
            Decide<span class="visually-hidden">: {requestText(approval)}</span>
          </ButtonLink>
        ) : (
          <Badge tone={tone}>{label}</Badge>
        ),
    };
  });
  return <Rows label="Approvals" rows={rows} />;
}
