import type { ComponentChildren } from 'preact';
import { Card, ErrorNotice } from '../components/content.tsx';
import { Actions, Button, ButtonLink, Form } from '../components/form.tsx';
import { successFlash } from '../flash.ts';
import { type FieldByCode, orShowFormAgain } from '../form-errors.ts';
import { createIdempotencyKey, readIdempotencyKey } from '../idempotency-key.ts';
import type { Answer } from '../route.ts';
import { type EnteredIn, type FieldDefinitions, Fields, readFields } from './fields.tsx';
import { type PageVisit, type Per, type Section, valueFor } from './page.tsx';

export interface FormDefinition<V extends PageVisit, F extends FieldDefinitions> {
  /** The part of its path after that of the page. Default: it posts to the path of the page. */
  name?: string;
  title?: Per<V, string>;
  /** Beside the title. */
  action?(visit: V): ComponentChildren;
  /** Above the form. */
  text?: Per<V, ComponentChildren>;
  fields: Per<V, F>;
  /** What the fields show before the person enters something. */
  values?(visit: V): Partial<EnteredIn<F>>;
  button: Per<V, string>;
  /** Of the button. Default: primary. */
  kind?: Per<V, 'primary' | 'quiet'>;
  /** The page to return to without a change. */
  cancel?(visit: V): string;
  isShown?(visit: V): boolean;
  /** The field of errors without a field, by error code. */
  errors?: FieldByCode;
  /** Whether sending it twice must do it once. `submit` gets the key. */
  once?: boolean;
  max_form_bytes?: number;
  /** Returns the message for the page, or another answer. */
  submit(visit: V, entered: EnteredIn<F>, key: string): Promise<string | Answer>;
}

/** A card with a form. */
export function form<V extends PageVisit, F extends FieldDefinitions>(
  definition: FormDefinition<V, F>,
): Section<V> {
  const { name = '', title, text, button, cancel, isShown, errors: fieldByCode, once = false } = definition;
  return {
    show(visit, submitted) {
      if (isShown && !isShown(visit)) return null;
      const own = submitted?.form === name ? submitted : undefined;
      const { message, fields = {} } = own?.errors ?? {};
      return (
        <Card title={valueFor(title, visit)} action={definition.action?.(visit)}>
          {!own?.is_error_shown && <ErrorNotice message={message} />}
          {toParagraph(valueFor(text, visit))}
          <Form
            action={name === '' ? visit.address : `${visit.address}/${name}`}
            {...(once && { hidden: { idempotency_key: createIdempotencyKey() } })}
          >
            <Fields
              fields={valueFor(definition.fields, visit)}
              values={own?.entered ?? definition.values?.(visit) ?? {}}
              errors={fields}
            />
            <Actions>
              <Button kind={valueFor(definition.kind, visit)}>{valueFor(button, visit)}</Button>
              {cancel && <ButtonLink href={cancel(visit)}>Cancel</ButtonLink>}
            </Actions>
          </Form>
        </Card>
      );
    },
    form: {
      name,
      max_form_bytes: definition.max_form_bytes,
      submit(visit, again) {
        const entered = readFields(valueFor(definition.fields, visit), visit.form);
        return orShowFormAgain(
          async () => {
            const answer = await definition.submit(visit, entered, readIdempotencyKey(visit.form));
            return typeof answer === 'string' ? { to: visit.address, flash: successFlash(answer) } : answer;
          },
          (errors) => again({ form: name, entered, errors }),
          fieldByCode,
        );
      },
    },
  };
}

function toParagraph(text: ComponentChildren): ComponentChildren {
  return typeof text === 'string' ? <p>{text}</p> : text;
}
