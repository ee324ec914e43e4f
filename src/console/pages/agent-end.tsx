import type { AgentOfPerson } from '../../services/person-agents.ts';
import { Handle } from '../kit/agents.tsx';
import { Card } from '../kit/content.tsx';
import { Field } from '../kit/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../kit/form.tsx';
import type { ShownPage } from '../route.ts';
import { agentAddress, AgentHeading } from './agent-heading.tsx';

export interface AgentEnd {
  /** What is done to the agent, in one word; its address ends so too, in small letters. */
  verb: 'Delete' | 'Erase';
  /** What that means, a sentence each. */
  points: readonly string[];
}

/** Whether what was typed is the handle of this agent. */
export function isHandleOf({ canonical_handle }: AgentOfPerson, typed: string): boolean {
  return typed.trim().replace(/^@/, '').toLowerCase() === canonical_handle;
}

/** Asks for the agent's handle before something that cannot be undone; `typed` is what was not it. */
export function endPage(agent: AgentOfPerson, { verb, points }: AgentEnd, typed?: string): ShownPage {
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
