import { deleteAgentOperation } from '../../operations/delete-agent.ts';
import type { AgentOfPerson } from '../../services/person-agents.ts';
import { managing } from '../acting.ts';
import { said } from '../flash.ts';
import { Handle } from '../kit/agents.tsx';
import { Card } from '../kit/content.tsx';
import { Field } from '../kit/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../kit/form.tsx';
import type { PageParts } from '../parts.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../route.ts';
import { agentAddress, AgentHeading } from './agent-heading.tsx';

const path = '/console/agents/:id/delete';

/** Deleting an agent, after its handle was typed. */
export function agentDeleteRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const { agent } = await managing(parts, person, params['id'] ?? '');
      return deletePage(agent);
    }),
    action(path, async ({ params, person, form }) => {
      const { agent, call } = await managing(parts, person, params['id'] ?? '');
      const typed = form.get('handle') ?? '';
      if (typed.trim().replace(/^@/, '').toLowerCase() !== agent.canonical_handle)
        return { ...deletePage(agent, typed), status: 400 };
      await call(deleteAgentOperation, { agent_ref: agent.id });
      return { to: '/console/agents', flash: said(`@${agent.canonical_handle} is deleted.`) };
    }),
  ];
}

function deletePage(agent: AgentOfPerson, typed?: string): ShownPage {
  const { canonical_handle: handle, display_name } = agent;
  const body = (
    <>
      <AgentHeading agent={agent} current={agentAddress(agent, 'settings')} />
      <Card title={`Delete ${display_name}?`} tone="danger">
        <ul class="points">
          <li>Its credentials, connected apps, tokens and open connections end at once.</li>
          <li>Its contacts lose it and are told so. Requests that wait are withdrawn.</li>
          <li>Its messages stay in the threads of others and keep showing its handle.</li>
          <li>The handle is never given away again, not to you either.</li>
          <li>This cannot be undone. To stop it for a while, pause it instead.</li>
        </ul>
        <Form action={agentAddress(agent, 'delete')}>
          <Field
            name="handle"
            label="Its handle"
            hint={
              <>
                Type <Handle of={handle} /> to show that you mean this one.
              </>
            }
            value={typed}
            error={typed === undefined ? undefined : `This is not ${handle}.`}
            plain
            required
          />
          <Actions>
            <Button kind="danger">Delete it for good</Button>
            <ButtonLink href={agentAddress(agent, 'settings')}>Keep it</ButtonLink>
          </Actions>
        </Form>
      </Card>
    </>
  );
  const title = `Delete ${display_name}`;
  return { title: typed === undefined ? title : `Error: ${title}`, body };
}
