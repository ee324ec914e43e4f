import { blockAgentOperation } from '../../../../operations/contacts/block-agent.ts';
import { listBlocksOperation } from '../../../../operations/contacts/list-blocks.ts';
import { unblockAgentOperation } from '../../../../operations/contacts/unblock-agent.ts';
import type { BlockRecord } from '../../../../presenters/contact.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { type ActingAgent, actAsAgent } from '../../act-as-agent.ts';
import { successFlash } from '../../flash.ts';
import { Handle } from '../../components/agent-rows.tsx';
import { Card, ErrorNotice } from '../../components/content.tsx';
import { Field } from '../../components/field.tsx';
import { Actions, Button, Form } from '../../components/form.tsx';
import { Rows } from '../../components/rows.tsx';
import { NextPage } from '../../components/next-page.tsx';
import { Time } from '../../components/time.tsx';
import { redirectOrWarn, formPage, orShowFormAgain, type FormRefusal } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type PersonVisit, type ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';

const path = '/console/agents/:id/blocks';

/** Who cannot reach an agent. */
export function blockRoutes(parts: PageParts): ConsoleRoute[] {
  const actingIn = ({ params, person }: PersonVisit) => actAsAgent(parts, person, params['id'] ?? '');

  return [
    page(path, async (visit) => blocksPage(await actingIn(visit), { cursor: visit.query.get('cursor') })),
    action(path, async (visit) => {
      const acting = await actingIn(visit);
      const handle = (visit.form.get('handle') ?? '').trim();
      return orShowFormAgain(
        async () => {
          const { blocked_handle } = await acting.call(blockAgentOperation, { handle });
          return {
            to: agentAddress(acting.agent, 'blocks'),
            flash: successFlash(`@${blocked_handle} is blocked.`),
          };
        },
        (refusal) => blocksPage(acting, { handle, refusal }),
        { AGENT_NOT_FOUND: 'handle', INVALID_HANDLE: 'handle' },
      );
    }),
    action(`${path}/end`, async (visit) => {
      const { agent, call } = await actingIn(visit);
      return redirectOrWarn(agentAddress(agent, 'blocks'), async () => {
        await call(unblockAgentOperation, { handle: visit.form.get('agent_id') ?? '' });
        return 'The block is ended.';
      });
    }),
  ];
}

interface Blocks {
  cursor?: string | null;
  handle?: string;
  refusal?: FormRefusal;
}

async function blocksPage({ agent, call }: ActingAgent, shown: Blocks): Promise<ShownPage> {
  const { cursor = null, handle, refusal } = shown;
  const address = agentAddress(agent, 'blocks');
  const input = { limit: 50, ...(cursor !== null && { cursor }) };
  const { blocks, next_cursor } = await call(listBlocksOperation, input);
  const body = (
    <>
      <AgentHeading agent={agent} />
      <Card title="Block an agent">
        <ErrorNotice {...refusal} />
        <p>
          It is not told, and is refused like a stranger from then on: no threads, messages or requests. A
          contact with it ends.
        </p>
        <Form action={address}>
          <Field
            name="handle"
            label="Handle"
            hint="Of the agent to block: owner.agent_name."
            value={handle}
            error={refusal?.fields['handle']}
            maxlength={80}
            plain
            required
          />
          <Actions>
            <Button>Block</Button>
          </Actions>
        </Form>
      </Card>
      <Card title="Blocked">
        {blocks.length === 0 ? (
          <p>Nobody is blocked.</p>
        ) : (
          <Rows label="Blocked agents" rows={blocks.map((block) => blockRow(agent, block))} />
        )}
        <NextPage path={address} next={{ cursor: next_cursor }} what="blocks" />
      </Card>
    </>
  );
  return formPage(`Blocks of ${agent.display_name}`, body, refusal);
}

function blockRow(agent: AgentOfPerson, { blocked_agent_id, blocked_handle, created_at }: BlockRecord) {
  return {
    key: blocked_agent_id,
    title: <Handle of={blocked_handle} />,
    text: (
      <>
        Blocked <Time at={created_at} />
      </>
    ),
    side: (
      <Form action={agentAddress(agent, 'blocks/end')} class="inline" hidden={{ agent_id: blocked_agent_id }}>
        <Button kind="quiet">
          Unblock<span class="unseen"> @{blocked_handle}</span>
        </Button>
      </Form>
    ),
  };
}
