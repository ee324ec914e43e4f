import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface Labelled {
  /** Name of the field in the form, and of its error. */
  name: string;
  label: string;
  hint?: ComponentChildren;
  /** What is wrong with what was entered. */
  error?: string | undefined;
}

interface FieldProps extends Labelled {
  type?: 'text' | 'password';
  value?: string | undefined;
  /** What browsers and password managers fill in. */
  autocomplete?: string;
  required?: boolean;
  minlength?: number;
  maxlength?: number;
  /** Names and handles: no capitals and no corrections while typing. */
  plain?: boolean;
  /** Stands before what is entered, as part of it. */
  prefix?: string;
  autofocus?: boolean;
}

/** A line to fill in, with its label, and what is wrong with it. */
export function Field(props: FieldProps) {
  const { type, name, value, autocomplete = 'off', plain = false, prefix } = props;
  const id = useId();
  const input = (
    <input
      id={id}
      name={name}
      {...(type === 'password' ? { type } : { type: 'text' })}
      value={value}
      autocomplete={autocomplete}
      required={props.required}
      minLength={props.minlength}
      maxLength={props.maxlength}
      autofocus={props.autofocus}
      {...(plain && { autocapitalize: 'none', autocorrect: 'off', spellcheck: false })}
      {...ariaAttributes(props, id)}
    />
  );
  return (
    <Labelled {...props} id={id}>
      {prefix === undefined ? (
        input
      ) : (
        <span class="prefixed">
          <span class="prefix">{prefix}</span>
          {input}
        </span>
      )}
    </Labelled>
  );
}

interface TextAreaProps extends Labelled {
  value?: string | undefined;
  rows?: number;
  maxlength?: number;
  /** Text whose characters stand below each other. */
  code?: boolean;
}

/** Several lines to fill in. */
export function TextArea(props: TextAreaProps) {
  const { name, value = '', rows = 4, maxlength, code = false } = props;
  const id = useId();
  return (
    <Labelled {...props} id={id}>
      <textarea
        id={id}
        name={name}
        rows={rows}
        maxLength={maxlength}
        class={code ? 'code' : undefined}
        {...ariaAttributes(props, id)}
      >
        {/* The first newline behind the tag is not part of the text (HTML, section 13.1.2.5). */}
        {value.startsWith('\n') ? `\n${value}` : value}
      </textarea>
    </Labelled>
  );
}

interface SelectProps extends Labelled {
  value?: string | undefined;
  options: readonly { value: string; text: string }[];
}

/** One of a few words; for choices that need explaining take Choices. */
export function Select(props: SelectProps) {
  const { name, value, options } = props;
  const id = useId();
  return (
    <Labelled {...props} id={id}>
      <select id={id} name={name} {...ariaAttributes(props, id)}>
        {options.map((option) => (
          <option value={option.value} selected={option.value === value} key={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

function Labelled({
  id,
  label,
  hint,
  error,
  children,
}: Labelled & { id: string; children: ComponentChildren }) {
  return (
    <div class={error === undefined ? 'field' : 'field wrong'}>
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {children}
      {error !== undefined && (
        <p class="error" id={`${id}-error`}>
          {errorSentence(label, error)}
        </p>
      )}
    </div>
  );
}

function ariaAttributes({ hint, error }: Labelled, id: string) {
  const ids = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean);
  return {
    ...(ids.length > 0 && { 'aria-describedby': ids.join(' ') }),
    ...(error !== undefined && { 'aria-invalid': 'true' as const }),
  };
}

/** What is wrong, as the service says it of a field by its name: `must have …` goes on after the label. */
function errorSentence(label: string, error: string): string {
  const whole = /^[a-z]/.test(error) ? `${label} ${error}` : error;
  return whole.endsWith('.') ? whole : `${whole}.`;
}
