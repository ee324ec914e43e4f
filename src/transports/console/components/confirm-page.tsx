import type { ComponentChildren } from 'preact';
import type { ShownPage } from '../route.ts';
import { Card, Heading } from './content.tsx';
import { Actions, Button, ButtonLink, Form } from './form.tsx';

interface Confirmation {
  /** The question: "Delete ann.writer?" */
  title: string;
  /** What will happen, and what cannot be undone. */
  children: ComponentChildren;
  /** Where the form goes. */
  action: string;
  hidden?: Record<string, string | undefined>;
  /** What the button does: "Delete this agent". */
  button: string;
  /** Where the way back leads. */
  back: string;
}

/** The page before something is done that cannot be undone. */
export function confirmPage({ title, children, action, hidden, button, back }: Confirmation): ShownPage {
  const body = (
    <>
      <Heading title={title} />
      <Card tone="danger">
        <div class="prose">{children}</div>
        <Form action={action} {...(hidden && { hidden })}>
          <Actions>
            <Button kind="danger">{button}</Button>
            <ButtonLink href={back}>Cancel</ButtonLink>
          </Actions>
        </Form>
      </Card>
    </>
  );
  return { title, body };
}
