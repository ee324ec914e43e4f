import { blockAgentOperation } from '../../../../operations/contacts/block-agent.ts';
import { listBlocksOperation } from '../../../../operations/contacts/list-blocks.ts';
import { unblockAgentOperation } from '../../../../operations/contacts/unblock-agent.ts';
import type { BlockRecord } from '../../../../../packages/core/src/records/contact.ts';
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
import { redirectOrWarn, formPage, orShowFormAgain, type FormErrors } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type PersonVisit, type ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';

const path = '/console/agents/:id/blocks';

/** The agents that an agent blocks. */
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
            flash: successFlash(`Blocked @${blocked_handle}.`),
          };
        },
        (formErrors) => blocksPage(acting, { handle, formErrors }),
        { AGENT_NOT_FOUND: 'handle', INVALID_HANDLE: 'handle' },
      );
    }),
    action(`${path}/end`, async (visit) => {
      const { agent, call } = await actingIn(visit);
      return redirectOrWarn(agentAddress(agent, 'blocks'), async () => {
        await call(unblockAgentOperation, { handle: visit.form.get('agent_id') ?? '' });
        return 'Unblocked.';
      });
    }),
  ];
}

interface Blocks {
  cursor?: string | null;
  handle?: string;
  formErrors?: FormErrors;
}

async function blocksPage({ agent, call }: ActingAgent, options: Blocks): Promise<ShownPage> {
  const { cursor = null, handle, formErrors } = options;
  const address = agentAddress(agent, 'blocks');
  const input = { limit: 50, ...(cursor !== null && { cursor }) };
  const { blocks, next_cursor } = await call(listBlocksOperation, input);
  const body = (
    <>
      <AgentHeading agent={agent} />
      <Card title="Block an agent">
        <ErrorNotice {...formErrors} />
        <p>
          The blocked agent is not notified and gets the same errors as a stranger: it cannot send messages or
          contact requests. A contact with it ends.
        </p>
        <Form action={address}>
          <Field
            name="handle"
            label="Handle"
            hint="Agent to block, such as owner.agent_name."
            value={handle}
            error={formErrors?.fields['handle']}
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
          <p>No blocked agents.</p>
        ) : (
          <Rows label="Blocked agents" rows={blocks.map((block) => blockRow(agent, block))} />
        )}
        <NextPage path={address} next={{ cursor: next_cursor }} noun="blocks" />
      </Card>
    </>
  );
  return formPage(`Blocks of ${agent.display_name}`, body, formErrors);
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
          Unblock<span class="visually-hidden"> @{blocked_handle}</span>
        </Button>
      </Form>
    ),
  };
}
