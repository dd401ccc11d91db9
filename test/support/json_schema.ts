import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

/** Returns a function that gives back a value which the schema accepts, and throws the first problems of another one. */
export function bySchema(schema: object): (value: unknown) => unknown {
  const ajv = new Ajv2020({ allErrors: true });
  addFormats.default(ajv);
  const validate = ajv.compile(schema);
  return (value) => {
    if (validate(value)) return value;
    throw new Error(JSON.stringify(validate.errors?.slice(0, 3)));
  };
}
