import { XMLParser, XMLValidator } from "fast-xml-parser";
import { toLine } from "../shared/text.ts";
import { ContentError } from "../shared/usage_error.ts";

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Its own text, decoded, without that of its children. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

/** An element as the library gives it: its name with its content in order, its attributes, or a text. */
type Node = Readonly<Record<string, readonly Node[] | string | XmlElement["attributes"]>>;

const textName = "#text";
const attributesName = ":@";
const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: "",
  trimValues: false,
  parseTagValue: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  // Decodes `&#10;`, too.
  htmlEntities: true,
  maxNestedTags: 50,
});

/** Reads well-formed XML without a document type; throws `ContentError`. */
export function parseXml(text: string): XmlElement {
  if (text.includes("<!DOCTYPE")) throw new ContentError(["expected XML without a document type"]);
  const found = XMLValidator.validate(text);
  if (found !== true) throw notWellFormed(`line ${found.err.line ?? 1}: `, found.err.msg);
  const [root, second] = elementsOf(parse(text));
  if (root === undefined || second !== undefined) throw new ContentError(["it is not XML with one root element"]);
  return root;
}

function parse(text: string): readonly Node[] {
  try {
    return parser.parse(text) as readonly Node[];
  } catch (error) {
    throw notWellFormed("", (error as Error).message);
  }
}

function notWellFormed(place: string, problem: string): ContentError {
  return new ContentError([`${place}it is not well-formed XML: ${toLine(problem, 200)}`]);
}

function elementsOf(nodes: readonly Node[]): readonly XmlElement[] {
  return nodes.flatMap((node) => {
    const name = Object.keys(node).find((key) => key !== attributesName && key !== textName);
    if (name === undefined) return [];
    const content = node[name] as readonly Node[];
    const text = content.map(({ [textName]: own }) => (typeof own === "string" ? own : "")).join("");
    const attributes = (node[attributesName] ?? {}) as XmlElement["attributes"];
    return [{ name, attributes, text, children: elementsOf(content) }];
  });
}

export function childrenOf(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.filter((child) => child.name === name);
}

/** The text of the first child of this name; empty without one. */
export function childText(element: XmlElement, name: string): string {
  return element.children.find((child) => child.name === name)?.text ?? "";
}
