import type { ComponentChildren } from 'preact';
import type { ShownPage } from '../route.ts';
import { Card, Heading } from './content.tsx';
import { Actions, Button, ButtonLink, Form } from './form.tsx';

interface Confirmation {
  /** The question: "Delete ann.writer?" */
  title: string;
  /** The consequences. */
  children: ComponentChildren;
  /** Path that the form posts to. */
  action: string;
  hidden?: Record<string, string | undefined>;
  /** Button text, such as "Delete agent". */
  button: string;
  /** Path of the Cancel link. */
  back: string;
}

/** A confirmation page before an action that cannot be undone. */
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
