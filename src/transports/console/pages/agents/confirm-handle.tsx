import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { Handle } from '../../components/agent-rows.tsx';
import { Card } from '../../components/content.tsx';
import { Field } from '../../components/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import type { ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from './heading.tsx';

export interface HandleConfirmation {
  /** What is done to the agent, in one word; its address ends so too, in small letters. */
  verb: 'Delete' | 'Erase';
  /** What that means, a sentence each. */
  points: readonly string[];
}

/** Whether what was typed is the handle of this agent. */
export function matchesHandle({ canonical_handle }: AgentOfPerson, typed: string): boolean {
  return typed.trim().replace(/^@/, '').toLowerCase() === canonical_handle;
}

/** Asks for the agent's handle before something that cannot be undone; `typed` is what was not it. */
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
        <ul class="points">
          {points.map((point) => (
            <li>{point}</li>
          ))}
        </ul>
        <Form action={agentAddress(agent, verb === 'Delete' ? 'delete' : 'erase')}>
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
            <Button kind="danger">{`${verb} it for good`}</Button>
            <ButtonLink href={settings}>Keep it</ButtonLink>
          </Actions>
        </Form>
      </Card>
    </>
  );
  const title = `${verb} ${display_name}`;
  return { title: typed === undefined ? title : `Error: ${title}`, body };
}
