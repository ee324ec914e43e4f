import { isId } from '../../../../domain/ids.ts';
import { type Approval, listApprovals } from '../../../../services/approvals/approvals.ts';
import { stateLabels, requestText } from './approval-text.ts';
import { Handle, monogram } from '../../components/agent-rows.tsx';
import { Badge, Card, Empty, Heading } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { Rows } from '../../components/rows.tsx';
import { NextPage } from '../../components/next-page.tsx';
import { Time } from '../../components/time.tsx';
import type { PageParts } from '../../parts.ts';
import { type ConsoleRoute, page, type ShownPage } from '../../route.ts';

const path = '/console/approvals';
const pageSize = 25;
const maxRecentDecisions = 5;

/** What agents ask their person before they do it, and what became of such questions. */
export function approvalListRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ query, person }) => {
      const given = query.get('before') ?? '';
      const before = isId('approval', given) ? given : '';
      const list = (pending: boolean, limit: number) =>
        unitOfWork.readAsSystem((all) => listApprovals(all, person.account_id, { pending, before, limit }));
      if (query.get('show') === 'decided') return decidedPage(await list(false, pageSize + 1));
      const decided = before === '' ? await list(false, maxRecentDecisions) : [];
      return pendingPage(await list(true, pageSize + 1), decided);
    }),
  ];
}

function pendingPage(found: readonly Approval[], decided: readonly Approval[]): ShownPage {
  const waiting = found.slice(0, pageSize);
  const last = found.length > pageSize ? waiting.at(-1) : undefined;
  const body = (
    <>
      <Heading title="Approvals" lead="What your agents do only when you agree." />
      {waiting.length === 0 ? (
        <Empty title="Nothing waits for you">
          When an agent wants to add or remove a contact through a tool, it asks you here.
        </Empty>
      ) : (
        <Card title="They wait for you">
          <ApprovalRows approvals={waiting} />
        </Card>
      )}
      <NextPage path={path} what="approvals" next={last && { before: last.id }} />
      {decided.length > 0 && (
        <Card title="Lately decided" action={<a href={`${path}?show=decided`}>All decided</a>}>
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
        {decided.length === 0 ? <p>Nothing was decided yet.</p> : <ApprovalRows approvals={decided} />}
      </Card>
      <NextPage path={path} what="approvals" next={last && { show: 'decided', before: last.id }} />
    </>
  );
  return { title: 'Decided approvals', body };
}

function ApprovalRows({ approvals }: { approvals: readonly Approval[] }) {
  const rows = approvals.map((approval) => {
    const { id, agent_display_name, agent_handle, created_at, decided_at, state } = approval;
    const { word, tone } = stateLabels[state];
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
          <Handle of={agent_handle} /> · asked <Time at={created_at} />
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
            Decide<span class="unseen">: {requestText(approval)}</span>
          </ButtonLink>
        ) : (
          <Badge tone={tone}>{word}</Badge>
        ),
    };
  });
  return <Rows label="Approvals" rows={rows} />;
}
