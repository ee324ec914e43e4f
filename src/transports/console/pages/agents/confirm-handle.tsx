import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { Handle } from '../../components/agent-rows.tsx';
import { Card } from '../../components/content.tsx';
import { Field } from '../../components/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import type { ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from './heading.tsx';

export interface HandleConfirmation {
  /** The action. */
  verb: 'Delete' | 'Erase';
  /** The consequences, one sentence each. */
  points: readonly string[];
}

/** Whether the entered text is the handle of the agent. */
export function matchesHandle({ canonical_handle }: AgentOfPerson, typed: string): boolean {
  return typed.trim().replace(/^@/, '').toLowerCase() === canonical_handle;
}

/** Asks for the agent's handle before an action that cannot be undone. `typed` is a wrong previous entry. */
export function confirmHandlePage(
  agent: AgentOfPerson,
  { verb, points }: HandleConfirmation,
  typed?: string,
): ShownPage {
  const { canonical_handle: handle, display_name } = agent;
  const settings = agentAddress(agent, 'settings');
  const body = (
    <>
      <AgentHeading agent={agent} current={settings} />
      <Card title={`${verb} ${display_name}?`} tone="danger">
        <ul class="bullets">
          {points.map((point) => (
            <li>{point}</li>
          ))}
        </ul>
        <Form action={agentAddress(agent, verb === 'Delete' ? 'delete' : 'erase')}>
          <Field
            name="handle"
            label="Handle"
            hint={
              <>
                Enter <Handle of={handle} /> to confirm.
              </>
            }
            value={typed}
            error={typed === undefined ? undefined : `Enter ${handle}.`}
            plain
            required
          />
          <Actions>
            <Button kind="danger">{`${verb} permanently`}</Button>
            <ButtonLink href={settings}>Cancel</ButtonLink>
          </Actions>
        </Form>
      </Card>
    </>
  );
  const title = `${verb} ${display_name}`;
  return { title: typed === undefined ? title : `Error: ${title}`, body };
}
