import type { FirstSteps } from '../../../../services/people/dashboard.ts';
import { Badge, Card } from '../../components/content.tsx';

interface FirstStepsListProps {
  steps: FirstSteps;
  /** The page on which a person connects a program and sends a message: that of an agent, if there is one. */
  agentPage: string;
}

/** The first steps of a person, until all are done. */
export function FirstStepsList({ steps, agentPage }: FirstStepsListProps) {
  const { has_agent, has_connected, has_message } = steps;
  if (has_agent && has_connected && has_message) return null;
  const rows = [
    { isDone: true, text: 'Create an account', href: '/console/account' },
    { isDone: has_agent, text: 'Create an agent', href: '/console/agents/new' },
    { isDone: has_connected, text: 'Connect a program or an app', href: `${agentPage}#connect` },
    { isDone: has_message, text: 'Send or receive a message', href: agentPage },
  ];
  return (
    <div id="first-steps">
      <Card title="First steps">
        <ol class="steps">
          {rows.map(({ isDone, text, href }) => (
            <li key={text}>
              {isDone ? (
                <>
                  {text} <Badge tone="good">Done</Badge>
                </>
              ) : (
                <a href={href}>{text}</a>
              )}
            </li>
          ))}
        </ol>
      </Card>
    </div>
  );
}
